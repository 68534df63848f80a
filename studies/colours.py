"""The colours of classes: told apart on paper and on a dark screen, neighbours in the list most of all."""

CLASS_COLOURS = (
    "#d9792f", "#5b86d6", "#3f9e5a", "#b0569d", "#c9a227", "#2aa1a8", "#c94f4f", "#7a6fd0", "#7f8c3a", "#e07ba0",
    "#8a6246", "#4aa3df", "#6f7b86", "#a33d6b", "#1f7a6d", "#b98bd1", "#9bb84a", "#9c4206", "#3d5a98", "#d0a58a",
)  # fmt: skip
