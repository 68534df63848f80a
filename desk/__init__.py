"""The researcher's desk in the admin: one folder for each page of a study."""
