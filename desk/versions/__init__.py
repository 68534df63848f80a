"""The versions of a study and the differences between them."""
