"""The results of a study and its model check: a page each, and every figure of them as a file."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from desk.base.filter_links import purpose_links, purpose_of
from desk.base.pages import Page, study_page
from studies.models import Study


def results(request: HttpRequest, study: Study) -> HttpResponse:
    """What came of a study so far."""
    # The statistics take a second to load, which no other page should wait for.
    from analysis.results.page import results_page

    purpose = purpose_of(request)
    context = results_page(study, purpose) | {
        "purpose": purpose,
        "purpose_links": purpose_links(purpose),
    }
    return study_page(request, study, "admin/desk/results/page.html", "Results", context)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponse:
    from analysis.results.figures import FIGURES
    from analysis.results.numbers import gather

    return figure_file(study, FIGURES, key, form, lambda: gather(study, purpose_of(request)))


def model(request: HttpRequest, study: Study) -> HttpResponse:
    """The model check: does the teachers' idea of a learner fit these people?"""
    # The fits need SciPy, which the other pages should not wait for.
    from analysis.modelcheck.page import model_page

    purpose = purpose_of(request)
    context = model_page(study, purpose) | {"purpose_links": purpose_links(purpose)}
    return study_page(request, study, "admin/desk/modelcheck/page.html", "Model check", context)


def model_figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponse:
    from analysis.modelcheck.page import FIGURES, check

    return figure_file(study, FIGURES, key, form, lambda: check(study, purpose_of(request)))


def figure_file(
    study: Study,
    figures: Mapping[str, Callable[[Any], Any]],
    key: str,
    form: str,
    numbers: Callable[[], Any],
) -> HttpResponse:
    """SVG or PDF, or the numbers behind it as CSV. They are computed only for figures that exist."""
    from analysis.results.figures import FORMS

    if key not in figures or form not in FORMS:
        raise Http404
    content = figures[key](numbers()).file(form)
    response = HttpResponse(content, content_type=FORMS[form])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{key}.{form}"'
    return response


PAGES = (
    Page(
        "results",
        "results/",
        results,
        title="Results",
        is_often_opened=True,
        preloads=("analysis.results.page",),
    ),
    Page("figure", "results/<slug:key>.<slug:form>", figure),
    Page("model", "model/", model, title="Model check", preloads=("analysis.modelcheck.page",)),
    Page("model_figure", "model/<slug:key>.<slug:form>", model_figure),
)
