from django.contrib import admin
from django.urls import path

from . import views

urlpatterns = [
    path("", admin.site.admin_view(views.index), name="documentation"),
    path("images/<str:name>", admin.site.admin_view(views.image), name="document_image"),
    path("<slug:name>/", admin.site.admin_view(views.page), name="document"),
]
