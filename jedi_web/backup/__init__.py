"""The whole site as one file: every row, image and pool, with hashes, for either database."""
