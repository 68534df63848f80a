"""The one table of a study's pages, in the order of its menu.

A new page is a folder with a `page.py` and a row here: its addresses, the menu, the lists of studies and what the
server loads ahead follow from the `Page` itself.
"""

from desk.base.pages import AdminPage, Page
from desk.checks import page as checks
from desk.connections import page as connections
from desk.downloads import page as downloads
from desk.modelcheck import page as modelcheck
from desk.monitor import page as monitor
from desk.participants import admin as participants
from desk.payment import page as payment
from desk.preview import page as preview
from desk.privacy import page as privacy
from desk.quality import page as quality
from desk.rehearsal import page as rehearsal
from desk.results import page as results
from desk.setup import page as setup
from desk.share import page as share
from desk.versions import page as versions

PAGES: tuple[AdminPage | Page, ...] = (
    *setup.PAGES,
    *preview.PAGES,
    *share.PAGES,
    *rehearsal.PAGES,
    *checks.PAGES,
    *monitor.PAGES,
    *participants.PAGES,
    *results.PAGES,
    *modelcheck.PAGES,
    *quality.PAGES,
    *payment.PAGES,
    *downloads.PAGES,
    *versions.PAGES,
    *connections.PAGES,
    *privacy.PAGES,
)
