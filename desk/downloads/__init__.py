"""A study's files for download."""
