"""What is kept about people, how it is deleted, and the record of who did what."""
