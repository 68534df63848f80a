"""Charts without a web framework: shapes, figures, SVG, PDF, and numbers in words."""
