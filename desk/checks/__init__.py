"""What to look at before a study opens and while it runs: one table of checks, for the check list and the monitor."""
