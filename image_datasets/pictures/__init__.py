"""Images as files: decoded from hostile bytes, re-encoded, and compared for duplicates."""
