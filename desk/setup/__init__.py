"""A study's settings: the form, its fields, and a check while they are typed."""
