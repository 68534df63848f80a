"""Charts without a web framework: shapes, figures, SVG, PDF, tables and number formatting."""
