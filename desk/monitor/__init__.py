"""The live monitor of a study: its numbers, its words and its buttons."""
