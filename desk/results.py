"""The results of a study and its model check: two pages, and each of their figures as a file.

The statistics take a second to load, so they are imported by the views, not when the server starts.
"""

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from studies.models import Study

from .filters import figure_file, filtered_page
from .page import Page


def results(request: HttpRequest, study: Study) -> HttpResponse:
    from analysis.results.page import results_page

    return filtered_page(request, study, "admin/desk/results.html", "Results", results_page)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponseBase:
    from analysis.results.data import load_results
    from analysis.results.figures import FIGURES

    return figure_file(request, study, FIGURES, key, form, load_results)


def model(request: HttpRequest, study: Study) -> HttpResponse:
    from analysis.modelcheck.page import model_page

    return filtered_page(request, study, "admin/desk/model_check.html", "Model check", model_page)


def model_figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponseBase:
    from analysis.modelcheck.page import FIGURES, check

    return figure_file(request, study, FIGURES, key, form, check)


PAGES = (
    Page("results", "results/", results, title="Results", is_often_opened=True),
    Page("figure", "results/<slug:key>.<slug:form>", figure),
    Page("model", "model/", model, title="Model check"),
    Page("model_figure", "model/<slug:key>.<slug:form>", model_figure),
)
