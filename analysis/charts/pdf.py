"""A drawing as a PDF of one page, with its letters embedded: the same drawing gives the same bytes.

Loading this loads ReportLab, which takes a moment: only who makes a PDF should.
"""

import io

from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

from .lettering import BOLD, REGULAR, pieces_of, width_of
from .shapes import Circle, Drawing, Line, Path, Rect, Shape, Text
from .styles import attributes

ROUND, BUTT = 1, 0
ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def pdf(drawing: Drawing) -> bytes:
    content = io.BytesIO()
    canvas = Canvas(
        content,
        pagesize=(drawing.width, drawing.height),
        pageCompression=1,
        invariant=1,
        # The stubs take the name for a number.
        initialFontName=REGULAR,  # type: ignore[arg-type]
    )
    describe(canvas, drawing.title)
    # Places count from the top, as in SVG; ReportLab counts from the bottom.
    canvas.translate(0, drawing.height)
    for shape in drawing.shapes:
        canvas.saveState()
        set_style(canvas, shape)
        draw(canvas, shape)
        canvas.restoreState()
    canvas.showPage()
    canvas.save()
    return content.getvalue()


def describe(canvas: Canvas, title: str) -> None:
    """What a PDF viewer shows about the file; without this ReportLab would call it anonymous."""
    canvas.setTitle(title)
    canvas.setAuthor("")
    canvas.setSubject("")
    canvas.setCreator("JEDI Web")
    canvas.setProducer("JEDI Web")


def set_style(canvas: Canvas, shape: Shape) -> None:
    """Colours, widths, dashes and opacities."""
    values = attributes(shape.style)
    canvas.setLineCap(BUTT if "stroke-dasharray" in values else ROUND)
    canvas.setLineJoin(ROUND)
    if is_filled(shape):
        canvas.setFillColor(HexColor(values["fill"]))
        canvas.setFillAlpha(fill_opacity(shape))
    if isinstance(shape, Text):
        canvas.setStrokeColor(HexColor(values["fill"]))
    if is_stroked(shape):
        canvas.setStrokeColor(HexColor(values["stroke"]))
        canvas.setStrokeAlpha(float(values.get("stroke-opacity", 1)))
        canvas.setLineWidth(float(values["stroke-width"]))
    if "stroke-dasharray" in values:
        canvas.setDash([float(part) for part in values["stroke-dasharray"].split()])


def fill_opacity(shape: Shape) -> float:
    if isinstance(shape, Rect) and shape.strength is not None:
        return shape.strength
    return float(attributes(shape.style).get("fill-opacity", 1))


def is_filled(shape: Shape) -> bool:
    return attributes(shape.style).get("fill", "none") != "none"


def is_stroked(shape: Shape) -> bool:
    return "stroke" in attributes(shape.style)


def draw(canvas: Canvas, shape: Shape) -> None:
    paint = {"stroke": int(is_stroked(shape)), "fill": int(is_filled(shape))}
    match shape:
        case Line():
            canvas.line(shape.x1, -shape.y1, shape.x2, -shape.y2)
        case Rect():
            canvas.rect(shape.x, -shape.y - shape.height, shape.width, shape.height, **paint)
        case Circle():
            canvas.circle(shape.x, -shape.y, shape.radius, **paint)
        case Path():
            draw_path(canvas, shape, paint)
        case Text():
            draw_text(canvas, shape)


def draw_path(canvas: Canvas, path: Path, paint: dict[str, int]) -> None:
    (first, *others) = path.points
    outline = canvas.beginPath()
    outline.moveTo(first[0], -first[1])
    for x, y in others:
        outline.lineTo(x, -y)
    if path.is_closed:
        outline.close()
    canvas.drawPath(outline, **paint)


def draw_text(canvas: Canvas, text: Text) -> None:
    values = attributes(text.style)
    size = float(values["font-size"].removesuffix("px"))
    font = BOLD if int(values.get("font-weight", 400)) >= 600 else REGULAR
    canvas.translate(text.x, -text.y)
    if text.is_upright:
        canvas.rotate(90)
    x = -ANCHORS[text.anchor] * width_of(text.text, font, size)
    for piece in pieces_of(text.text, font):
        x += piece.draw(canvas, x, font, size)
