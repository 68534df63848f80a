"""The results of a study in the admin: one page, and every figure of it as a file."""

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from studies.models import Study

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    Base = ModelAdmin[Any]
else:
    Base = object


class ResultsPages(Base):
    """For the admin of participants: who may see them may see what came of them."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.results)
        figure = self.admin_site.admin_view(self.figure)
        return [
            path("results/<slug:slug>/", page, name="study_results"),
            path("results/<slug:slug>/<slug:key>.<slug:form>", figure, name="study_figure"),
            *super().get_urls(),
        ]

    def results(self, request: HttpRequest, slug: str) -> HttpResponse:
        """What came of a study so far."""
        # The statistics take a second to load, which no other page should wait for.
        from .results import results_page

        study = self.study_for(request, slug)
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": f"Results of {study.title}",
            "opts": self.opts,
            **results_page(study),
        }
        return TemplateResponse(request, "admin/evaluation/results.html", context)

    def figure(self, request: HttpRequest, slug: str, key: str, form: str) -> HttpResponse:
        """One figure as SVG or PDF, or the numbers behind it as CSV."""
        from .results import FIGURES, FORMS, gather

        study = self.study_for(request, slug)
        if key not in FIGURES or form not in FORMS:
            raise Http404
        content = FIGURES[key](gather(study)).file(form)
        response = HttpResponse(content, content_type=FORMS[form])
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-{key}.{form}"'
        return response

    def study_for(self, request: HttpRequest, slug: str) -> Study:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
