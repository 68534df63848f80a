"""A made-up app of one file: a stage with two questions, as somebody would add it to the project."""
