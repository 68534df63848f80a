from django.urls import path

from . import views
from .api import views as api

# In the order in which they are asked for most.
urlpatterns = [
    path("api/sessions/<str:token>/answers/", api.Answers.as_view(), name="api-answers"),
    path("w/<slug:token>/images/<slug:key>", views.image, name="image"),
    path("api/sessions/<str:token>/", api.Session.as_view(), name="api-session"),
    path("api/sessions/<str:token>/events/", api.Events.as_view(), name="api-events"),
    path("healthz", views.health, name="health"),
    path("api/studies/<slug:slug>/sessions/", api.Join.as_view(), name="api-join"),
    path("api/sessions/<str:token>/withdrawal/", api.Withdrawal.as_view(), name="api-withdrawal"),
    path("s/<slug:slug>/", views.entry, name="entry"),
    path("w/<slug:token>/", views.session, name="session"),
    path("", views.home, name="home"),
]
