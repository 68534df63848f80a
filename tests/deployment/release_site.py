"""A small site as a release writes it, for the tests that bring it to the newest version.

`python -m tests.deployment.release_site`, run at a release, writes tests/deployment/releases/<version>.zip: a backup
with the links of its workers and the database as SQL of SQLite. A data set was imported and rehearsed by bots, one
person has finished, and one is in the middle of each stage.
"""

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import django

from tests.site import ROOT, Site, running_site

FOLDER = ROOT / "tests" / "deployment" / "releases"
LINKS, SQL = "links.json", "sqlite.sql"
STUDY = "release"
STAGES = ("consent", "memory", "teaching", "evaluation", "done")
IMAGES_PER_CLASS = 20
BOTS = 2
# The key of the tests, so that the chains of answers can be checked by them.
KEY = "a key for tests only, which guards nothing at all 0123456789"


def make(path: Path, scratch: Path) -> None:
    with running_site(JEDI_SECRET_KEY=KEY) as site:
        import_shapes(site, scratch / "shapes")
        site.make_study(slug=STUDY, title="A study", dataset="Shapes", arms="jedi,imt")
        links = {stage: link_of_somebody_in(site, stage) for stage in STAGES}
        site.python("manage.py", "rehearse", STUDY, "--workers", str(BOTS), "--url", address(site))
        leave_out_what_no_test_needs(site.data_dir)
        site.python("manage.py", "backup", str(path))
        with ZipFile(path, "a", ZIP_DEFLATED) as archive:
            archive.writestr(LINKS, json.dumps(links))
            archive.writestr(SQL, as_sql(site.data_dir / "db.sqlite3"))


def import_shapes(site: Site, source: Path) -> None:
    # Here and below, because Django has to be set up first.
    from tests.image_datasets.drawn_files import written_folder
    from tests.image_datasets.made_imports import manifest_files

    written_folder(source, manifest_files(with_split=True, per_class=IMAGES_PER_CLASS))
    site.python("manage.py", "import_dataset", "Shapes", str(source), "--seed", "5")


def link_of_somebody_in(site: Site, stage: str) -> str:
    """With an answer in the stage, if it has more than one task."""
    from tests.worker import Worker

    worker = Worker(STUDY, site.client())
    worker.go_to(stage)
    if stage in ("memory", "teaching", "evaluation"):
        worker.answer_current()
    return worker.token


def leave_out_what_no_test_needs(folder: Path) -> None:
    """The images, which are large, and the prepared folder's key, which the site did not use."""
    (folder / "secret_key").unlink()
    for images in folder.glob("datasets/*/images"):
        shutil.rmtree(images)


def address(site: Site) -> str:
    return f"http://127.0.0.1:{site.port}"


def as_sql(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return "\n".join(connection.iterdump())


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "jedi_web.settings", "JEDI_DATA_DIR": scratch}
        django.setup()
        from studies.software import software_version

        path = FOLDER / f"{software_version().partition('+')[0]}.zip"
        path.unlink(missing_ok=True)
        make(path, Path(scratch))
    path.chmod(0o644)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")  # noqa: T201


if __name__ == "__main__":
    main()
