"""The pages of a study, in the order of its menu.

To add a page, write a module and a template with its name, and add the module's PAGES here. URLs, the menu and the
lists of studies follow from them.
"""

from desk import (
    checks,
    connections,
    downloads,
    monitor,
    participants,
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
from desk.page import AdminPage, Page

PAGES: tuple[AdminPage | Page, ...] = (
    *setup.PAGES,
    *preview.PAGES,
    *share.PAGES,
    *rehearsal.PAGES,
    *checks.PAGES,
    *monitor.PAGES,
    *participants.PAGES,
    *results.PAGES,
    *quality.PAGES,
    *payment.PAGES,
    *downloads.PAGES,
    *versions.PAGES,
    *connections.PAGES,
    *privacy.PAGES,
)
