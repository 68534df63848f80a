"""The model check of a study: does the teachers' idea of a learner fit these people?"""

from django.http import HttpRequest, HttpResponse

from desk.base.figures import figure_file
from desk.base.filter_links import purpose_links, purpose_of
from desk.base.pages import Page, study_page
from studies.models import Study


def model(request: HttpRequest, study: Study) -> HttpResponse:
    # The fits need SciPy, which the other pages should not wait for.
    from analysis.modelcheck.page import model_page

    purpose = purpose_of(request)
    context = model_page(study, purpose) | {"purpose_links": purpose_links(purpose)}
    return study_page(request, study, "admin/desk/modelcheck/page.html", "Model check", context)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponse:
    from analysis.modelcheck.page import FIGURES, check

    return figure_file(study, FIGURES, key, form, lambda: check(study, purpose_of(request)))


PAGES = (
    Page("model", "model/", model, title="Model check", preloads=("analysis.modelcheck.page",)),
    Page("model_figure", "model/<slug:key>.<slug:form>", figure),
)
