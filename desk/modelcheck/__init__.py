"""The page of the model check."""
