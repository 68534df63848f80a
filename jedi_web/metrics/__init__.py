"""Metrics for Prometheus, which are kept only if a token to read them is set."""
