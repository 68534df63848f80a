"""The desk's first page: the newest studies at a glance."""
