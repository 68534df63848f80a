"""The QR code of a link as an SVG image."""

import io


def qr_svg(text: str) -> str:
    """Black on white, on dark pages too: that is what readers expect. At least error correction level M."""
    # Only this image needs it, and no other page should wait for it to load.
    import segno

    file = io.BytesIO()
    code = segno.make_qr(text, error="m")
    colours = {"dark": "#000", "light": "#fff"}
    code.save(file, kind="svg", border=4, omitsize=True, xmldecl=False, nl=False, **colours)
    # Without it, the white shows as hairlines between the rows when they end between two pixels.
    return file.getvalue().decode().replace("<svg ", '<svg shape-rendering="crispEdges" ', 1)
