"""Module 3 of a session: the images without feedback, and the teaching gain."""
