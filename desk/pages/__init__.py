"""The pages of a study in the admin, in the order of its menu. A new page is a module and a row here."""

from . import downloads, monitor, payment, preview, rehearsal, results, setup, share, versions
from .base import Page

PAGES: tuple[Page, ...] = (
    *setup.PAGES,
    *preview.PAGES,
    *share.PAGES,
    *rehearsal.PAGES,
    *monitor.PAGES,
    *results.PAGES,
    *payment.PAGES,
    *downloads.PAGES,
    *versions.PAGES,
)
