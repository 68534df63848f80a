"""The pages of a study in the admin, in the order of its menu. A new page is a module and a row here."""

from desk.base.pages import Page
from desk.connections import page as connections
from desk.downloads import page as downloads
from desk.modelcheck import page as model
from desk.monitor import page as monitor
from desk.payment import page as payment
from desk.preview import page as preview
from desk.privacy import page as privacy
from desk.quality import page as quality
from desk.rehearsal import page as rehearsal
from desk.results import page as results
from desk.setup import page as setup
from desk.share import page as share
from desk.versions import page as versions

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
