"""Images as files: decoded from hostile bytes, encoded anew, and compared for duplicates."""
