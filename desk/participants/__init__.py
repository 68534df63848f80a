"""Participants in the admin: their list, and the whole session of each."""
