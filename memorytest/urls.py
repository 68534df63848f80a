from django.urls import path

from . import api

urlpatterns = [
    path("api/sessions/<str:token>/exposures/", api.Exposures.as_view(), name="api-exposures"),
    path("api/sessions/<str:token>/displays/", api.Displays.as_view(), name="api-displays"),
]
