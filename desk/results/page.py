"""The results of a study: one page, and every figure of it as a file."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from desk.base.files import figure_file
from desk.base.pages import Page
from desk.base.people_pages import people_page
from studies.models import Study


def results(request: HttpRequest, study: Study) -> HttpResponse:
    """What came of a study so far."""
    # The statistics take a second to load, which no other page should wait for.
    from analysis.results.page import results_page

    return people_page(request, study, "admin/desk/results/page.html", "Results", results_page)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponseBase:
    from analysis.results.data import load_results
    from analysis.results.figures import FIGURES

    return figure_file(request, study, FIGURES, key, form, load_results)


PAGES = (
    Page(
        "results",
        "results/",
        results,
        title="Results",
        is_often_opened=True,
    ),
    Page("figure", "results/<slug:key>.<slug:form>", figure),
)
