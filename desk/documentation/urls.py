from django.contrib import admin
from django.urls import path

from . import views

urlpatterns = [
    path("", admin.site.admin_view(views.index), name="documentation"),
    path("<slug:name>/", admin.site.admin_view(views.page), name="document"),
]
