"""Why a teacher showed an image: one step of teaching, explained by its numbers."""
