"""A drawing as a PDF of one page: our few shapes, and Helvetica, which every reader has.

Helvetica's standard encoding covers Western European letters; others become question marks.
"""

from .shapes import Circle, Drawing, Line, Path, Rect, Shape, Text, attributes, number

# The widths of Helvetica's characters from space to tilde, in thousandths of the size (Adobe's metrics).
WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778,
    722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278,
    278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
USUAL_WIDTH = 556
# The encoding has no minus sign; an en dash is as wide.
SUBSTITUTES = str.maketrans({"−": "–", "\u202f": " "})
# How far the handles of a Bézier curve reach so that four of them make a circle.
ROUND = 0.5523


def pdf(drawing: Drawing) -> bytes:
    opacities: dict[str, str] = {}
    lines = [f"1 0 0 -1 0 {number(drawing.height)} cm", "1 J 1 j"]
    for shape in drawing.shapes:
        lines += ["q", *_clothes(shape, opacities), *_outline(shape), "Q"]
    content = "\n".join(lines).encode("cp1252", "replace")
    states = " ".join(f"/{name} << {values} >>" for values, name in opacities.items())
    resources = f"/Font << /F0 5 0 R /F1 6 0 R >> /ExtGState << {states} >>"
    size = f"[0 0 {number(drawing.width)} {number(drawing.height)}]"
    title = _escaped(drawing.title).encode("cp1252", "replace")
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox {size} /Resources << {resources} >> /Contents 4 0 R >>".encode(),
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
            _font("Helvetica"),
            _font("Helvetica-Bold"),
            b"<< /Title (%b) /Producer (JEDI Web) >>" % title,
        ]
    )


def _file(objects: list[bytes]) -> bytes:
    """The objects, numbered from 1, with the table that says where each begins."""
    parts = [b"%PDF-1.4\n"]
    places = []
    for place, body in enumerate(objects, 1):
        places.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (place, body))
    start = sum(map(len, parts))
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, rows))
    parts.append(b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (count, len(objects)))
    parts.append(b"startxref\n%d\n%%%%EOF\n" % start)
    return b"".join(parts)


def _font(name: str) -> bytes:
    return (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()
    )


def _colour(value: str) -> str:
    return " ".join(f"{int(value[at : at + 2], 16) / 255:.3f}" for at in (1, 3, 5))


def _clothes(shape: Shape, opacities: dict[str, str]) -> list[str]:
    """Colours, widths, dashes and opacities; an opacity is named in the page's resources."""
    values = attributes(shape.style)
    if isinstance(shape, Rect) and shape.strength is not None:
        values["fill-opacity"] = f"{shape.strength:.2f}"
    commands = []
    if "fill-opacity" in values or "stroke-opacity" in values:
        state = f"/ca {values.get('fill-opacity', '1')} /CA {values.get('stroke-opacity', '1')}"
        commands.append(f"/{opacities.setdefault(state, f'G{len(opacities)}')} gs")
    if values.get("fill", "none") != "none":
        commands.append(f"{_colour(values['fill'])} rg")
    if "stroke" in values:
        commands += [f"{_colour(values['stroke'])} RG", f"{values['stroke-width']} w"]
    if "stroke-dasharray" in values:
        commands.append(f"0 J [{values['stroke-dasharray']}] 0 d")
    return commands


def _outline(shape: Shape) -> list[str]:
    match shape:
        case Line():
            return [f"{_at(shape.x1, shape.y1)} m {_at(shape.x2, shape.y2)} l S"]
        case Rect():
            box = f"{_at(shape.x, shape.y)} {_at(shape.width, shape.height)} re"
            return [f"{box} {_paint(shape.style)}"]
        case Circle():
            return [*_circle(shape), _paint(shape.style)]
        case Path():
            (first, *others) = shape.points
            steps = [f"{_at(*first)} m", *(f"{_at(*point)} l" for point in others)]
            return [*steps, ("h " if shape.is_closed else "") + _paint(shape.style)]
        case Text():
            return [_text(shape)]


def _at(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"


def _paint(style: str) -> str:
    values = attributes(style)
    is_filled = values.get("fill", "none") != "none"
    if is_filled and "stroke" in values:
        return "B"
    return "f" if is_filled else "S"


def _circle(circle: Circle) -> list[str]:
    x, y, r = circle.x, circle.y, circle.radius
    k = ROUND * r
    quarters = [
        ((x + r, y + k), (x + k, y + r), (x, y + r)),
        ((x - k, y + r), (x - r, y + k), (x - r, y)),
        ((x - r, y - k), (x - k, y - r), (x, y - r)),
        ((x + k, y - r), (x + r, y - k), (x + r, y)),
    ]
    curves = [" ".join(f"{a:.2f} {b:.2f}" for a, b in quarter) + " c" for quarter in quarters]
    return [f"{x + r:.2f} {y:.2f} m", *curves, "h"]


def _text(text: Text) -> str:
    values = attributes(text.style)
    size = float(values["font-size"])
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * width_of(text.text, size)
    # The page was turned over so that y points down as in SVG; letters are turned back.
    if text.is_upright:
        matrix = f"0 -1 -1 0 {_at(text.x, text.y + shift)}"
    else:
        matrix = f"1 0 0 -1 {_at(text.x - shift, text.y)}"
    font = "F1" if values.get("font-weight") == "bold" else "F0"
    return f"BT /{font} {number(size)} Tf {matrix} Tm ({_escaped(text.text)}) Tj ET"


def _escaped(text: str) -> str:
    plain = text.translate(SUBSTITUTES)
    return plain.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def width_of(text: str, size: float) -> float:
    places = (ord(letter) - 32 for letter in text)
    widths = (WIDTHS[place] if 0 <= place < len(WIDTHS) else USUAL_WIDTH for place in places)
    return sum(widths) * size / 1000
