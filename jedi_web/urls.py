"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path, reverse_lazy
from drf_spectacular.views import SpectacularAPIView

set_password = auth.PasswordResetConfirmView.as_view(
    template_name="registration/set_password.html", success_url=reverse_lazy("admin:login")
)

urlpatterns = [
    path("admin/first-password/<uidb64>/<token>/", set_password, name="first_password"),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/", include("desk.api.urls")),
    path("", include("memorytest.urls")),
    path("", include("studies.urls")),
]
