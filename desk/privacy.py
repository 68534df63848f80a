"""The privacy page of a study: what is stored about participants, how to delete it, and the audit log.

Deletion keeps studies, their settings, data sets and audit entries, which name participants by their random codes
only. A participant's withdrawal is different: it keeps an empty row, so that counts stay correct.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from analysis.charts.tables import Column, Table
from studies import audit, chain
from studies.models import AuditEntry, Participant, ParticipantQuerySet, Study
from studies.read_only import ReadOnly
from teaching.teachers import teacher_title

from .page import Page, address, format_minute, study_page
from .sharing import VisibleFilter, VisibleRows

# Participants deleted in one transaction, so that answers do not wait long for the lock.
BATCH_SIZE = 100
MAX_ENTRIES = 50
ENTRY_COLUMNS = (
    Column("When", cell_class="number"),
    Column("Who"),
    Column("What"),
    Column("Detail", cell_class="detail"),
)


# Deletion


class PurgeRefused(Exception):
    """The data cannot be deleted yet; the message says what to do first."""


def people_of_study(study: Study) -> ParticipantQuerySet:
    """Everybody in a study that cannot be joined at present. Sessions in progress are included."""
    if study.state in Study.TAKES_PART:
        raise PurgeRefused(
            f"{study.title} is {study.get_state_display()}. Pause or close it first."
        )
    return study.participants.all()


def people_before(days: int) -> ParticipantQuerySet:
    """Everybody last seen more than this many days ago, except in sessions that have not expired."""
    moment = timezone.now() - timedelta(days=days)
    old = Participant.objects.filter(last_seen_at__lt=moment)
    under_way = old.under_way().select_related("study").iterator()
    return old.exclude(pk__in=[person.pk for person in under_way if not person.has_expired])


def purge_people(people: ParticipantQuerySet, *, why: str, actor: Any) -> int:
    """Delete participants in batches, each with an audit entry. Return their number."""
    total = 0
    rows = list(people.order_by("study_id", "pk").values_list("study_id", "pk"))
    for study_id, own in groupby(rows, key=lambda row: row[0]):
        study = Study.objects.get(pk=study_id)
        keys = [pk for _, pk in own]
        for start in range(0, len(keys), BATCH_SIZE):
            with transaction.atomic():
                batch = study.participants.filter(pk__in=keys[start : start + BATCH_SIZE])
                number = chain.remove_participants(batch)
                noun = "participant" if number == 1 else "participants"
                detail = f"Deleted everything about {number} {noun} ({why})."
                audit.record(AuditEntry.Action.DELETE, detail, study=study, actor=actor)
            total += number
    return total


# The page


def privacy(request: HttpRequest, study: Study) -> HttpResponse:
    people = study.participants
    entries = AuditEntry.objects.filter(study=study)[:MAX_ENTRIES]
    rows = [
        [format_minute(entry.at), entry.actor_name, entry.get_action_display(), entry.detail]
        for entry in entries
    ]
    context = {
        "people": people.count(),
        "withdrawn": people.filter(stage=Participant.Stage.WITHDRAWN).count(),
        "with_ids": people.exclude(external_id="").count(),
        "is_joinable": study.state in Study.TAKES_PART,
        "entries": Table("Audit log", ENTRY_COLUMNS, rows),
    }
    return study_page(request, study, "admin/desk/privacy.html", "Privacy", context)


def delete_participant(request: HttpRequest, study: Study) -> HttpResponse:
    """List everything that would be deleted and ask for confirmation."""
    code = (request.POST or request.GET).get("code", "").strip().upper()
    person = study.participants.filter(code=code).first()
    if person is None:
        messages.error(
            request, f"There is no participant {code or 'without a code'} in this study."
        )
        return HttpResponseRedirect(address(study, "privacy"))
    if request.method == "POST":
        people = study.participants.filter(pk=person.pk)
        purge_people(people, why=f"by code {code}", actor=request.user)
        messages.success(request, f"Everything about {code} was deleted.")
        return HttpResponseRedirect(address(study, "privacy"))
    belongings = []
    for relation in Participant._meta.related_objects:
        model: Any = relation.related_model
        number = model._base_manager.filter(**{relation.field.name: person}).count()
        if number:
            belongings.append((str(model._meta.verbose_name_plural), number))
    context = {
        "participant": person,
        "teacher": teacher_title(person.arm),
        "belongings": belongings,
    }
    template = "admin/desk/privacy_participant.html"
    return study_page(request, study, template, f"Delete {code}", context)


def delete_everybody(request: HttpRequest, study: Study) -> HttpResponse:
    """Delete all participants of the study, after its link name was typed."""
    try:
        people = people_of_study(study)
    except PurgeRefused as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(address(study, "privacy"))
    if request.method == "POST" and request.POST.get("name", "").strip() == study.slug:
        number = purge_people(people, why="the whole study", actor=request.user)
        messages.success(request, f"Participants deleted, with all their data: {number}")
        return HttpResponseRedirect(address(study, "privacy"))
    context = {
        "number": people.count(),
        "under_way": people.under_way().count(),
        "is_mistyped": request.method == "POST",
    }
    template = "admin/desk/privacy_everybody.html"
    return study_page(request, study, template, "Delete everybody’s data", context)


@admin.register(AuditEntry)
class AuditAdmin(ReadOnly, VisibleRows):
    """The audit log of all studies, read-only."""

    list_display = ["when", "who", "action", "study_name", "detail"]
    list_display_links = None
    list_filter = ["action", ("study", VisibleFilter)]
    search_fields = ["detail", "actor_name"]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = {"title": "Audit log", "subtitle": None}
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
