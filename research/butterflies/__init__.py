"""Paints the images of the demo studies: invented species of butterfly."""
