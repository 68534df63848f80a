"""From images to the features that a teacher needs."""
