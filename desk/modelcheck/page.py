"""The model check of a study: does the teachers' idea of a learner fit these people?"""

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from desk.base.files import figure_file
from desk.base.pages import Page
from desk.base.people_pages import people_page
from studies.models import Study


def model(request: HttpRequest, study: Study) -> HttpResponse:
    # The fits need SciPy, which the other pages should not wait for.
    from analysis.modelcheck.page import model_page

    return people_page(request, study, "admin/desk/modelcheck/page.html", "Model check", model_page)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponseBase:
    from analysis.modelcheck.page import FIGURES, check

    return figure_file(request, study, FIGURES, key, form, check)


PAGES = (
    Page("model", "model/", model, title="Model check"),
    Page("model_figure", "model/<slug:key>.<slug:form>", figure),
)
