"""The page on which a study is rehearsed with simulated workers."""
