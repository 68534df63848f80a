"""From a researcher's images to a data set that can be taught: reading, features, checks, imports, admin pages."""
