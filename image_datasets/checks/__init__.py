"""What is worked out about a data set: the target concept, shortcuts, and what its page shows."""
