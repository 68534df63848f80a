"""Simulated learners: the paper's, people with habits, and others that no teacher assumes."""
