"""The bonus: who gets it, the recruiters' files, and the record of who was paid."""
