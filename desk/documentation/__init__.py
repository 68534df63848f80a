"""The documentation as pages of the desk, rendered from the files in `docs/`."""
