from django.urls import path

from . import views
from .api import views as api

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("s/<slug:slug>/", views.entry, name="entry"),
    path("w/<slug:token>/", views.session, name="session"),
    path("w/<slug:token>/images/<slug:key>", views.image, name="image"),
    path("api/studies/<slug:slug>/sessions/", api.Join.as_view(), name="api-join"),
    path("api/sessions/<str:token>/", api.Session.as_view(), name="api-session"),
    path("api/sessions/<str:token>/answers/", api.Answers.as_view(), name="api-answers"),
    path("api/sessions/<str:token>/events/", api.Events.as_view(), name="api-events"),
    path("api/sessions/<str:token>/withdrawal/", api.Withdrawal.as_view(), name="api-withdrawal"),
]
