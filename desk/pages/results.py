"""The results of a study: one page, and every figure of it as a file."""

from django.http import Http404, HttpRequest, HttpResponse

from desk.purposes import purpose_of, purpose_switch
from studies.models import Study

from .base import Page, study_page


def results(request: HttpRequest, study: Study) -> HttpResponse:
    """What came of a study so far."""
    # The statistics take a second to load, which no other page should wait for.
    from evaluation.results import results_page

    purpose = purpose_of(request)
    context = results_page(study, purpose) | {
        "purpose": purpose,
        "purpose_switch": purpose_switch(purpose),
    }
    return study_page(request, study, "admin/desk/results.html", "Results", context)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponse:
    """One figure as SVG or PDF, or the numbers behind it as CSV."""
    from evaluation.results import FIGURES, FORMS, gather

    if key not in FIGURES or form not in FORMS:
        raise Http404
    content = FIGURES[key](gather(study, purpose_of(request))).file(form)
    response = HttpResponse(content, content_type=FORMS[form])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{key}.{form}"'
    return response


PAGES = (
    Page("results", "results/", results, title="Results"),
    Page("figure", "results/<slug:key>.<slug:form>", figure),
)
