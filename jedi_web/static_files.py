"""Static files are collected when they have changed, not at every start."""

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command


def collect_if_changed() -> None:
    if not are_collected():
        call_command("collectstatic", verbosity=0, interactive=False)


def are_collected() -> bool:
    """Whether the manifest, which is written last, is newer than every source."""
    manifest = "staticfiles.json"
    if not staticfiles_storage.exists(manifest):
        return False
    collected_at = staticfiles_storage.get_modified_time(manifest)
    sources = (
        storage.get_modified_time(path)
        for finder in get_finders()
        for path, storage in finder.list([])
    )
    return all(modified_at <= collected_at for modified_at in sources)
