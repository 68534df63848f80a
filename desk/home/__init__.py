"""The first page of the desk: a researcher's studies, what to do next with each, and where everything is."""
