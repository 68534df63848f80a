"""What a study keeps about people, how to delete it, and the record of who downloaded or deleted what."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from analysis.charts.tables import Column, Table
from desk.access.sharing import VisibleFilter, VisibleRows
from desk.base.cells import minute
from desk.base.pages import Page, address, study_page
from studies.models import AuditEntry, Participant, Study
from studies.read_only import ReadOnly
from teaching.teachers import teacher_title

from . import purge

# How many of the last entries of the record the page lists.
LISTED = 50
ENTRIES = (
    Column("When", cell_class="number"),
    Column("Who"),
    Column("What"),
    Column("Detail", cell_class="detail"),
)


def privacy(request: HttpRequest, study: Study) -> HttpResponse:
    people = study.participants
    context = {
        "people": people.count(),
        "withdrawn": people.filter(stage=Participant.Stage.WITHDRAWN).count(),
        "with_ids": people.exclude(external_id="").count(),
        "is_joinable": study.state in Study.TAKES_PART,
        "entries": record_table(study),
    }
    return study_page(request, study, "admin/desk/privacy/page.html", "Privacy", context)


def record_table(study: Study) -> Table:
    newest = AuditEntry.objects.filter(study=study)[:LISTED]
    rows = [[minute(e.at), e.actor_name, e.get_action_display(), e.detail] for e in newest]
    return Table("The record", ENTRIES, rows)


def delete_participant(request: HttpRequest, study: Study) -> HttpResponse:
    """Asks first, and lists everything that would be deleted; the code comes from the address or the form."""
    code = (request.POST or request.GET).get("code", "").strip().upper()
    person = study.participants.filter(code=code).first()
    if person is None:
        messages.error(
            request, f"There is no participant {code or 'without a code'} in this study."
        )
        return HttpResponseRedirect(address(study, "privacy"))
    if request.method != "POST":
        context = {
            "participant": person,
            "teacher": teacher_title(person.arm),
            "belongings": belongings(person),
        }
        title = f"Delete {code}"
        return study_page(
            request, study, "admin/desk/privacy/purge_participant.html", title, context
        )
    people = study.participants.filter(pk=person.pk)
    purge.purge_people(people, why=f"by code {code}", actor=request.user)
    messages.success(request, f"Everything about {code} was deleted.")
    return HttpResponseRedirect(address(study, "privacy"))


def belongings(participant: Participant) -> list[tuple[str, int]]:
    """What would be deleted with a participant: how many rows of which kind."""
    counts = []
    for relation in Participant._meta.related_objects:
        model: Any = relation.related_model
        number = model._base_manager.filter(**{relation.field.name: participant}).count()
        counts.append((str(model._meta.verbose_name_plural), number))
    return [(name, number) for name, number in counts if number]


def delete_everybody(request: HttpRequest, study: Study) -> HttpResponse:
    """Asks for the study's link name, which nobody types by mistake."""
    try:
        people = purge.people_of_study(study)
    except purge.PurgeRefused as refusal:
        messages.error(request, str(refusal))
        return HttpResponseRedirect(address(study, "privacy"))
    if request.method == "POST" and request.POST.get("name", "").strip() == study.slug:
        number = purge.purge_people(people, why="the whole study", actor=request.user)
        messages.success(request, f"Participants deleted, with all their data: {number}")
        return HttpResponseRedirect(address(study, "privacy"))
    context = {
        "number": people.count(),
        "under_way": people.under_way().count(),
        "is_mistyped": request.method == "POST",
    }
    title = "Delete everybody’s data"
    return study_page(request, study, "admin/desk/privacy/purge_study.html", title, context)


@admin.register(AuditEntry)
class AuditAdmin(ReadOnly, VisibleRows):
    """The record of exports, deletions and decisions in all studies, for reading only."""

    list_display = ["when", "who", "action", "study_name", "detail"]
    list_display_links = None
    list_filter = ["action", ("study", VisibleFilter)]
    search_fields = ["detail", "actor_name"]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = {"title": "The record", "subtitle": None}
        return super().changelist_view(request, title | (extra_context or {}))

    @admin.display(ordering="at")
    def when(self, entry: AuditEntry) -> str:
        return f"{entry.at:%Y-%m-%d %H:%M}"

    @admin.display(ordering="actor_name")
    def who(self, entry: AuditEntry) -> str:
        return entry.actor_name


PAGES = (
    Page("privacy", "privacy/", privacy, title="Privacy"),
    Page("purge_participant", "privacy/participant/", delete_participant, edits=True),
    Page("purge_study", "privacy/everybody/", delete_everybody, edits=True),
)
