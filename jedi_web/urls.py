"""Every address of the site."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path, reverse_lazy
from drf_spectacular.views import SpectacularAPIView

from jedi_web.readiness import ready

# Whoever has the link may sign in by setting a password: asking for it again would prove nothing.
set_password = auth.PasswordResetConfirmView.as_view(
    template_name="registration/set_password.html",
    success_url=reverse_lazy("admin:index"),
    post_reset_login=True,
    post_reset_login_backend="django.contrib.auth.backends.ModelBackend",
)

handler500 = "studies.views.server_error"

# Those of workers first: they are asked for most.
urlpatterns = [
    path("", include("studies.urls")),
    path("", include("memorytest.urls")),
    path("admin/first-password/<uidb64>/<token>/", set_password, name="first_password"),
    path("admin/docs/", include("desk.documentation.urls")),
    path("admin/", admin.site.urls),
    path("readyz", ready, name="ready"),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/", include("desk.api.urls")),
]
if settings.JEDI_METRICS_TOKEN:
    urlpatterns += [path("metrics", include("jedi_web.metrics.urls"))]
