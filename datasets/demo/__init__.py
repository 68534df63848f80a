"""The demonstration study: two invented species of butterfly, drawn by our own code."""
