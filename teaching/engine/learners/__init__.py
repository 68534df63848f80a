"""Simulated learners: the paper's, and people with habits."""
