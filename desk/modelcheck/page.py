"""The model check of a study: does the teachers' idea of a learner fit these people?"""

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from desk.base.files import figure_file
from desk.base.filter_links import filters, purpose_of, versions_that_exist
from desk.base.pages import Page, study_page
from studies.models import Study


def model(request: HttpRequest, study: Study) -> HttpResponse:
    # The fits need SciPy, which the other pages should not wait for.
    from analysis.modelcheck.page import model_page

    purpose = purpose_of(request)
    with versions_that_exist():
        found = model_page(study, purpose, request.GET.get("version", ""))
    context = found | filters(purpose, found["versions"])
    return study_page(request, study, "admin/desk/modelcheck/page.html", "Model check", context)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponseBase:
    from analysis.modelcheck.page import FIGURES, check

    wanted = (purpose_of(request), request.GET.get("version", ""))
    with versions_that_exist():
        return figure_file(request, study, FIGURES, key, form, lambda: check(study, *wanted))


PAGES = (
    Page("model", "model/", model, title="Model check", preloads=("analysis.modelcheck.page",)),
    Page("model_figure", "model/<slug:key>.<slug:form>", figure),
)
