"""Images that were prepared before are read, not prepared again."""

import json

from image_datasets.extractors.base import never, no_progress
from image_datasets.imports.preparation import prepare_all
from image_datasets.sources import SourceImage
from image_datasets.sources.files import DiskFile
from tests.image_datasets.drawn_files import encoded, scene


def prepared(image, folder):
    images, problems = prepare_all([image], folder, progress=no_progress, cancelled=never)
    assert not problems
    return images[0]


def test_a_record_of_an_older_import_is_read_although_it_holds_more(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encoded(scene(1)))
    image = SourceImage("a.png", "cat", None, DiskFile(path, "a.png", path.stat().st_size))
    first = prepared(image, tmp_path / "work")
    record = tmp_path / "work" / "000000.json"
    older = json.loads(record.read_text())
    older["notes"] = ["The original is small (160×120) and is enlarged."]
    older["original"] |= {"mode": "RGB", "bits_per_pixel": 3.2, "had_alpha": False}
    record.write_text(json.dumps(older))
    assert prepared(image, tmp_path / "work") == first
    assert json.loads(record.read_text()) == older
