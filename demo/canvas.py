"""The oversized canvas on which a butterfly is drawn; reducing it smooths the edges."""

import numpy as np
from PIL import Image, ImageDraw

from demo.anatomy import Curve
from demo.colours import DARK, Colour
from demo.look import Look

SUPERSAMPLE = 3


class Sheet:
    """An oversized canvas on which a shape of the right half is drawn on both halves."""

    def __init__(self, look: Look, size: int) -> None:
        self._side = size * SUPERSAMPLE
        self._unit = look.scale * self._side
        self._centre = np.array([0.5, 0.487]) * self._side
        cos, sin = np.cos(look.tilt), np.sin(look.tilt)
        self._turn = np.array([[cos, -sin], [sin, cos]])
        # What the wings' edges blend with when the canvas is reduced.
        self._colours = Image.new("RGB", (self._side, self._side), DARK)
        self._coverage = Image.new("L", (self._side, self._side), 0)
        self._brush = ImageDraw.Draw(self._colours)
        # Blending costs several times as much as covering.
        self._glaze = ImageDraw.Draw(self._colours, "RGBA")
        self._stencil = ImageDraw.Draw(self._coverage)

    def fill(self, shape: Curve, colour: Colour, opacity: float = 1.0) -> None:
        """Fill the shape and its mirror image, on top of what is there."""
        brush, ink = self._tool(colour, opacity)
        for side in (1, -1):
            brush.polygon(self._placed(shape, side), fill=ink)

    def cut(self, shape: Curve) -> None:
        """Make the shape and its mirror image part of the specimen's silhouette."""
        for side in (1, -1):
            self._stencil.polygon(self._placed(shape, side), fill=255)

    def add(self, shape: Curve, colour: Colour) -> None:
        self.cut(shape)
        self.fill(shape, colour)

    def fill_once(self, shape: Curve, colour: Colour, opacity: float = 1.0) -> None:
        """Fill a shape that is its own mirror image, or has none."""
        brush, ink = self._tool(colour, opacity)
        brush.polygon(self._placed(shape, 1), fill=ink)

    def dot(self, centre: Curve, radius: float, colour: Colour, opacity: float = 1.0) -> None:
        self.dots(centre[None, :], np.array([radius]), colour, opacity)

    def dots(self, centres: Curve, radii: Curve, colour: Colour, opacity: float = 1.0) -> None:
        brush, ink = self._tool(colour, opacity)
        reach = (radii * self._unit)[:, None]
        for side in (1, -1):
            places = np.reshape(self._placed(centres, side), (-1, 2))
            for box in np.hstack([places - reach, places + reach]).tolist():
                brush.ellipse(box, fill=ink)

    def line(self, points: Curve, width: float, colour: Colour) -> None:
        for side in (1, -1):
            pixels = round(width * self._unit)
            self._brush.line(self._placed(points, side), fill=colour, width=pixels)

    def reduced(self) -> tuple[Image.Image, Image.Image]:
        return self._colours.reduce(SUPERSAMPLE), self._coverage.reduce(SUPERSAMPLE)

    def _tool(self, colour: Colour, opacity: float) -> tuple[ImageDraw.ImageDraw, tuple[int, ...]]:
        if opacity == 1:
            return self._brush, colour
        return self._glaze, (*colour, round(255 * opacity))

    def _placed(self, shape: Curve, side: int) -> list[float]:
        upright = shape * (side * self._unit, -self._unit)
        placed: list[float] = (upright @ self._turn.T + self._centre).ravel().tolist()
        return placed
