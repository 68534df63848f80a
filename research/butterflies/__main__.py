"""Paint the images of the demo data sets and write a pack for each: two.zip and five.zip.

This takes about 25 minutes of processor time. The same release of Pillow writes the same bytes.
"""

import argparse
from pathlib import Path

from .packs import write_pack
from .specimens import COLLECTIONS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m research.butterflies", description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="where to write the packs, such as image_datasets/demo"
    )
    folder = parser.parse_args().folder
    for name, collection in COLLECTIONS.items():
        write_pack(folder / f"{name}.zip", collection)
