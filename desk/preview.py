"""The preview page of a study: a session at any stage with any teacher, and deleting trial sessions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Max, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from analysis.charts.tables import Column, Table, number_columns, row_names
from memorytest.decay import measure
from studies import audit, chain, stages
from studies.answers import set_columns
from studies.models import AuditEntry, Participant, Study
from studies.recruitment import Recruitment
from studies.services import join
from studies.summary import TYPICAL_ACCURACY, TYPICAL_SPAN
from teaching.assignment import assign
from teaching.teachers import known_teachers, teacher_title

from .page import Page, address, format_date, study_page

Stage, Purpose = Participant.Stage, Participant.Purpose

# The purposes of sessions that do not count.
TRIAL_PURPOSES = (Purpose.PILOT, Purpose.PREVIEW, Purpose.REHEARSAL)
TRIAL_COLUMNS = (
    row_names("Kind"),
    *number_columns("Sessions", "Finished"),
    Column("Last begun"),
    Column("People"),
)


def available_teachers(study: Study) -> list[str]:
    """The study's teachers first, then the others that can serve its pool."""
    # The engine is imported here to keep the server's start fast.
    from teaching.stage import size_of_pool

    size = size_of_pool(study)
    able = [name for name, teacher in known_teachers().items() if teacher.serves(size)]
    return [*study.arm_names, *(name for name in able if name not in study.arm_names)]


def starting_points() -> dict[str, str]:
    """The stages at which a preview can begin, with a description."""
    last_page = f"The last page. Where scores are shown at once, it shows {TYPICAL_ACCURACY:.0%}."
    return {stage.name: stage.preview for stage in stages.flow()} | {Stage.DONE: last_page}


def create_preview(*, study: Study, stage: str, arm: str) -> Participant:
    """Create a preview at a stage, as if the earlier stages were done."""
    if stage != Stage.DONE:
        stages.by_name()[stage].prepare(study)
    with transaction.atomic():
        participant, _ = join(study=study, recruitment=Recruitment(purpose=Purpose.PREVIEW))
        participant.arm = arm
        skip_to(participant, stage)
        participant.save()
        chain.seal(participant.pk)
    return participant


def skip_to(participant: Participant, name: str) -> None:
    """Set the results of the stages before this one, and begin it."""
    for stage in stages.flow():
        if stage.name == name:
            participant.stage = name
            set_columns(participant, stage.begin(participant))
            return
        if skip := SKIP.get(stage.name):
            set_columns(participant, skip(participant))
    participant.stage, participant.finished_at = Stage.DONE, timezone.now()


def skip_memory(participant: Participant) -> dict[str, Any]:
    study = participant.study_as_joined
    span = min(TYPICAL_SPAN, study.memory_max_length)
    return measure(participant, [span] * study.memory_trials, others={})


# The columns that a typical participant leaves in each stage. Other stages leave none.
SKIP: dict[str, Callable[[Participant], dict[str, Any]]] = {
    Stage.CONSENT: lambda participant: {"position": 2, "consented_at": timezone.now()},
    Stage.MEMORY: skip_memory,
    Stage.TEACHING: lambda participant: (
        assign(participant) | {"teaching_started_at": timezone.now()}
    ),
    Stage.EVALUATION: lambda participant: {
        "evaluation_started_at": timezone.now(),
        "evaluation_accuracy": TYPICAL_ACCURACY,
    },
}


def trial_sessions(study: Study) -> list[dict[str, Any]]:
    """The number of trial sessions, of finished ones and the last start, by purpose."""
    done = Count("pk", filter=Q(stage=Stage.DONE))
    rows = study.participants.order_by().values("purpose")
    counts = rows.annotate(sessions=Count("pk"), finished=done, last=Max("created_at"))
    by_purpose = {row["purpose"]: row for row in counts}
    return [
        {"title": purpose.label, **by_purpose[purpose]}
        for purpose in TRIAL_PURPOSES
        if purpose in by_purpose
    ]


def clear_trials(*, study: Study, purposes: Collection[str], actor: Any) -> int:
    """Delete the trial sessions of these purposes with all their data. Live sessions cannot be deleted this way."""
    chosen = [purpose for purpose in TRIAL_PURPOSES if purpose in purposes]
    with transaction.atomic():
        number = chain.remove_participants(study.participants.filter(purpose__in=chosen))
        detail = f"Cleared {number} sessions that never counted ({' and '.join(chosen)})."
        audit.record(AuditEntry.Action.DELETE, detail, study=study, actor=actor)
    return number


def preview(request: HttpRequest, study: Study) -> HttpResponse:
    labels = {**stages.labels(), Stage.DONE: Stage.DONE.label}
    # Preselect the stage that assigns a teacher, or else the first.
    assigning = (stage for stage in stages.flow() if stage.assigns_arm)
    preselected = next(assigning, stages.flow()[0]).name
    people = reverse("admin:studies_participant_changelist")
    rows = [
        [
            row["title"],
            row["sessions"],
            row["finished"],
            format_date(row["last"]),
            format_html(
                '<a href="{}" aria-label="View the sessions of kind {}">View</a>',
                f"{people}?study__id__exact={study.pk}&purpose__exact={row['purpose']}",
                row["title"],
            ),
        ]
        for row in trial_sessions(study)
    ]
    context = {
        "stages": [
            {
                "name": name,
                "title": labels[name].capitalize(),
                "help": description,
                "is_chosen": name == preselected,
            }
            for name, description in starting_points().items()
        ],
        "teachers": [
            {"name": name, "title": teacher_title(name), "is_own": name in study.arm_names}
            for name in available_teachers(study)
        ],
        "trials": Table("Trial sessions so far", TRIAL_COLUMNS, rows),
    }
    return study_page(request, study, "admin/desk/preview.html", "Preview", context)


def open_preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Create a preview and redirect to it."""
    stage, arm = request.POST.get("stage", ""), request.POST.get("teacher", "")
    if stage not in starting_points() or arm not in ["", *available_teachers(study)]:
        raise Http404
    participant = create_preview(study=study, stage=stage, arm=arm)
    return HttpResponseRedirect(participant.get_absolute_url())


def clear(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for confirmation; a POST deletes the sessions of the ticked purposes."""
    if request.method != "POST":
        context = {"trials": trial_sessions(study)}
        template = "admin/desk/preview_clear.html"
        return study_page(request, study, template, "Clear trial sessions", context)
    purposes = [name for name in request.POST.getlist("purpose") if name in TRIAL_PURPOSES]
    if purposes:
        number = clear_trials(study=study, purposes=purposes, actor=request.user)
        sessions = "1 session was" if number == 1 else f"{number} sessions were"
        messages.success(request, f"{sessions} deleted. No live sessions were affected.")
    else:
        messages.warning(request, "Nothing was selected, so nothing was deleted.")
    return HttpResponseRedirect(address(study, "preview"))


PAGES = (
    Page("preview", "preview/", preview, title="Preview"),
    Page("preview_open", "preview/open/", open_preview, edits=True, posts=True),
    Page("preview_clear", "preview/clear/", clear, edits=True),
)
