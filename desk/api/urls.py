from django.urls import path

from . import views

urlpatterns = [
    path("studies/", views.Studies.as_view(), name="api-v1-studies"),
    path("studies/<slug:slug>/", views.StudyInfo.as_view(), name="api-v1-study"),
    path("studies/<slug:slug>/state/", views.StudyState.as_view(), name="api-v1-state"),
    path(
        "studies/<slug:slug>/participants/",
        views.Participants.as_view(),
        name="api-v1-participants",
    ),
    path(
        "studies/<slug:slug>/exports/everything.zip",
        views.ArchiveExport.as_view(),
        name="api-v1-archive",
    ),
    path(
        "studies/<slug:slug>/exports/<slug:table>.<slug:extension>",
        views.TableExport.as_view(),
        name="api-v1-table",
    ),
]
