"""The pages of a study in the admin, in the order of its menu. A new page is a module and a row here."""

from . import downloads, payment, results
from .base import Page

PAGES: tuple[Page, ...] = (
    *results.PAGES,
    *payment.PAGES,
    *downloads.PAGES,
)
