"""Static files under hashed names."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Rewrites the imports inside our ES modules too, so that a new release never mixes with cached old modules."""

    support_js_module_import_aggregation = True
