"""The researchers' API: what a researcher can do by hand with a study, a program of theirs can do too."""
