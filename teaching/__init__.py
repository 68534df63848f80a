"""Module 2 of a session: assignment to a teacher, the steps of teaching, and their replay."""
