from django.urls import path

from . import api

urlpatterns = [
    path("api/sessions/<str:token>/exposures/", api.Exposures.as_view(), name="api-exposures"),
]
