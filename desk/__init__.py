"""The researcher's desk in the admin: one module and one template for each page of a study."""
