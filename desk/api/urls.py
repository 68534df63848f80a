from django.urls import path

from . import views

STUDY = "studies/<slug:slug>/"
TABLE = f"{STUDY}exports/<slug:table>.<slug:extension>"

urlpatterns = [
    path("studies/", views.Studies.as_view(), name="api-v1-studies"),
    path(STUDY, views.StudyInfo.as_view(), name="api-v1-study"),
    path(f"{STUDY}checks/", views.StudyChecks.as_view(), name="api-v1-checks"),
    path(f"{STUDY}state/", views.StudyState.as_view(), name="api-v1-state"),
    path(f"{STUDY}participants/", views.Participants.as_view(), name="api-v1-participants"),
    path(f"{STUDY}exports/everything.zip", views.ArchiveExport.as_view(), name="api-v1-archive"),
    path(TABLE, views.TableExport.as_view(), name="api-v1-table"),
]
