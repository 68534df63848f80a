"""The URLs of the site."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from desk.accounts import SetPassword
from jedi_web.readiness import ready

handler500 = "studies.views.server_error"

# The participants' pages come first because they are requested most.
urlpatterns = [
    path("", include("studies.urls")),
    path("", include("memorytest.urls")),
    path("admin/first-password/<uidb64>/<token>/", SetPassword.as_view(), name="first_password"),
    path("admin/docs/", include("desk.documentation")),
    path("admin/", admin.site.urls),
    path("readyz", ready, name="ready"),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/", include("desk.api.urls")),
]
