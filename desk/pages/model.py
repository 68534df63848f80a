"""The model check of a study: does the teachers' idea of a learner fit these people?"""

from django.http import Http404, HttpRequest, HttpResponse

from desk.purposes import purpose_of, purpose_switch
from studies.models import Study

from .base import Page, study_page


def model(request: HttpRequest, study: Study) -> HttpResponse:
    # The fits need SciPy, which the other pages should not wait for.
    from evaluation.modelcheck.page import model_page

    purpose = purpose_of(request)
    context = model_page(study, purpose) | {"purpose_switch": purpose_switch(purpose)}
    return study_page(request, study, "admin/desk/model.html", "Model check", context)


def figure(request: HttpRequest, study: Study, key: str, form: str) -> HttpResponse:
    """One figure as SVG or PDF, or the numbers behind it as CSV."""
    from evaluation.modelcheck.page import FIGURES, check
    from evaluation.results.figures import FORMS

    if key not in FIGURES or form not in FORMS:
        raise Http404
    content = FIGURES[key](check(study, purpose_of(request))).file(form)
    response = HttpResponse(content, content_type=FORMS[form])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{key}.{form}"'
    return response


PAGES = (
    Page("model", "model/", model, title="Model check"),
    Page("model_figure", "model/<slug:key>.<slug:form>", figure),
)
