"""Trying a study out: any stage with any teacher, and clearing what was tried."""
