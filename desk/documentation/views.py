"""The pages of the documentation, for everybody who may sign in to the desk."""

from __future__ import annotations

from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from .documents import DOCUMENTS, address_of, document, image_file, title_of


def index(request: HttpRequest) -> HttpResponse:
    rows = [
        {"title": title_of(name), "url": address_of(name), "about": about}
        for name, about in DOCUMENTS.items()
    ]
    context = admin.site.each_context(request) | {"title": "Documentation", "rows": rows}
    return TemplateResponse(request, "admin/desk/documentation/index.html", context)


def page(request: HttpRequest, name: str) -> HttpResponse:
    if name not in DOCUMENTS:
        raise Http404
    found = document(name)
    context = admin.site.each_context(request) | {"title": found.title, "document": found}
    return TemplateResponse(request, "admin/desk/documentation/page.html", context)


def image(request: HttpRequest, name: str) -> FileResponse:
    file = image_file(name)
    if file is None:
        raise Http404
    return FileResponse(file.open("rb"), content_type="image/png")
