"""The pages of results and of the model check."""
