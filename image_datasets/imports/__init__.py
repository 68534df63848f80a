"""The steps of an import, from the uploaded file to the rows of a data set."""
