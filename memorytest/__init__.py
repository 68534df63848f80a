"""Module 1 of a session: restoring the order of pictures, and the memory decay that follows."""
