"""The pages of a study in the admin, in the order of its menu. A new page is a module and a row here."""

from . import (
    connections,
    downloads,
    model,
    monitor,
    payment,
    preview,
    privacy,
    quality,
    rehearsal,
    results,
    setup,
    share,
    versions,
)
from .base import Page

PAGES: tuple[Page, ...] = (
    *setup.PAGES,
    *preview.PAGES,
    *share.PAGES,
    *rehearsal.PAGES,
    *monitor.PAGES,
    *results.PAGES,
    *model.PAGES,
    *quality.PAGES,
    *payment.PAGES,
    *downloads.PAGES,
    *versions.PAGES,
    *connections.PAGES,
    *privacy.PAGES,
)
