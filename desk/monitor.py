"""The live monitor of a study: counts, current sessions, errors, and the buttons that change the study."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, wraps
from typing import Any

from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from analysis.charts.formatting import UNKNOWN, share
from analysis.charts.formatting import duration as format_duration
from studies import head_counts, services, stages
from studies.errors import StateNotAllowed
from studies.head_counts import UNDER_WAY, HeadCount, OutcomeGroup, Progress
from studies.models import Participant, SessionEvent, Study
from studies.services import STATE_MEANINGS, STATE_MOVES
from teaching.teachers import teacher_title

from .check_rules import session_times
from .checks import alarms
from .filters import LIVE, PURPOSES, FilterLinks, filter_links, purpose_links, query_string
from .page import Page, View, address, may_edit, study_page

Json = dict[str, Any]
Stage = Participant.Stage

PAGE_SIZE = 50
EVERYBODY, EXCLUDED = "everybody", "excluded"
UNASSIGNED = "none"
ERROR_KINDS = (SessionEvent.Kind.SERVER, SessionEvent.Kind.ERROR, SessionEvent.Kind.OFFLINE)
ERROR_AGE = timedelta(days=1)
MAX_ERRORS = 10


# Counts


@dataclass(frozen=True)
class MonitorFilter:
    """Which participants the list shows, as the query string selects them."""

    purpose: str = LIVE
    place: str = UNDER_WAY
    """`under way`, the name of a stage, `excluded` or `everybody`."""
    arm: str = ""
    """Empty for all, `none` for participants without an arm."""

    @classmethod
    def from_query(cls, study: Study, parameters: Mapping[str, str]) -> MonitorFilter:
        """Unknown values are ignored."""
        purpose, place, arm = (parameters.get(name, "") for name in ("purpose", "place", "arm"))
        return cls(
            purpose if purpose in PURPOSES else LIVE,
            place if place in place_titles() else UNDER_WAY,
            arm if arm in (*study.arm_names, UNASSIGNED) else "",
        )

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the query string, without those at their default."""
        default = MonitorFilter()
        values = {name: getattr(self, name) for name in ("purpose", "place", "arm")}
        return {name: value for name, value in values.items() if value != getattr(default, name)}

    def matches(self, group: OutcomeGroup) -> bool:
        if self.arm and group.arm != ("" if self.arm == UNASSIGNED else self.arm):
            return False
        if self.place in (EVERYBODY, EXCLUDED):
            return group.is_excluded or self.place == EVERYBODY
        if self.place in (UNDER_WAY, *Participant.ENDS):
            return group.outcome == self.place
        return group.outcome == UNDER_WAY and group.reached == self.place

    def condition(self, cutoff: datetime) -> Q:
        """The same as `matches`, for a query."""
        arm = Q(arm="" if self.arm == UNASSIGNED else self.arm) if self.arm else Q()
        not_ended = ~Q(stage__in=Participant.ENDS)
        seen_lately = Q(last_seen_at__gte=cutoff)
        if self.place == EVERYBODY:
            place = Q()
        elif self.place == EXCLUDED:
            place = Q(is_excluded=True)
        elif self.place == UNDER_WAY:
            place = not_ended & seen_lately
        elif self.place == Stage.ABANDONED:
            place = Q(stage=Stage.ABANDONED) | not_ended & ~seen_lately
        elif self.place in Participant.ENDS:
            place = Q(stage=self.place)
        else:
            place = Q(stage=self.place) & seen_lately
        return Q(purpose=self.purpose) & arm & place


def place_titles() -> dict[str, str]:
    """The places that a participant can be at, in the order of a session."""
    labels = stages.labels() | {end.value: end.label for end in Participant.ENDS}
    return {
        UNDER_WAY: "Under way",
        **{name: label.capitalize() for name, label in labels.items()},
        Stage.DONE: "Finished",
        EXCLUDED: "Excluded",
        EVERYBODY: "Everybody",
    }


@dataclass(frozen=True)
class Step:
    """A stage of the funnel: how many reached it, are in it now, and were lost in it."""

    stage: str
    reached: int
    here: int
    lost: int


def funnel(groups: Sequence[OutcomeGroup]) -> list[Step]:
    """Progress by stage. Includes excluded participants."""
    names, steps = [*stages.labels(), Stage.DONE.value], []
    for index, stage in enumerate(names):
        here = [group for group in groups if group.reached == stage]
        reached = sum(group.count for group in groups if group.reached in names[index:])
        under_way = sum(g.count for g in here if g.outcome == UNDER_WAY)
        lost = sum(g.count for g in here if g.outcome not in (UNDER_WAY, Stage.DONE))
        steps.append(Step(stage, reached, under_way, lost))
    return steps


@dataclass(frozen=True)
class Place:
    """Where a participant is: since when, and how much of the stage is done."""

    participant: Participant
    status: str
    since: datetime
    progress: tuple[int, int] | None
    """Units done and total; None outside of stages with tasks."""

    @classmethod
    def from_row(cls, participant: Participant, progress: Progress | None) -> Place:
        if participant.has_expired or not participant.is_under_way:
            outcome = Stage.ABANDONED if participant.has_expired else participant.stage
            ended_at = participant.finished_at or participant.last_seen_at
            return cls(participant, outcome, ended_at, progress=None)
        stage = stages.by_name()[participant.stage]
        total = (
            participant.teaching_steps
            if stage.assigns_arm
            else max(stage.lengths(participant.study_as_joined))
        )
        # The stage began at its own column or with its first task.
        column = head_counts.start_column(stage)
        since: datetime | None = getattr(participant, column) if column else None
        since = since or (progress.since if progress else participant.last_seen_at)
        done = (progress.done, total) if progress and total else None
        return cls(participant, participant.stage, since, done)


@dataclass(frozen=True)
class Monitor:
    """What the page shows. Each query runs at most once."""

    study: Study
    filter: MonitorFilter
    page: int = 1

    @cached_property
    def groups(self) -> tuple[OutcomeGroup, ...]:
        return head_counts.outcome_groups(self.study, self.filter.purpose)

    @cached_property
    def head_count(self) -> HeadCount:
        return head_counts.head_count(self.groups)

    @cached_property
    def arms(self) -> dict[str, HeadCount]:
        return head_counts.by_arm(self.study, self.groups)

    @property
    def places_taken(self) -> int:
        """As joining counts them: finished or under way, including excluded participants."""
        return sum(g.count for g in self.groups if g.outcome in (UNDER_WAY, Stage.DONE))

    def count(self, chosen: MonitorFilter) -> int:
        """The number of participants on all pages of a list."""
        return sum(group.count for group in self.groups if chosen.matches(group))

    @property
    def pages(self) -> int:
        return max(1, -(-self.count(self.filter) // PAGE_SIZE))

    @cached_property
    def median_duration(self) -> timedelta | None:
        """Of the finished sessions that count, from consent to the end."""
        times = session_times(self.study, self.filter.purpose)
        return times.median if times else None

    @cached_property
    def people(self) -> list[Place]:
        """One page of the list, the newest first, so that rows do not move while it is read."""
        start = (min(self.page, self.pages) - 1) * PAGE_SIZE
        rows = self.study.participants.filter(self.filter.condition(self.study.cutoff))
        people = list(rows.select_related("version").order_by("-pk")[start : start + PAGE_SIZE])
        progress: dict[int, Progress] = {}
        for stage in stages.flow():
            in_stage = [person for person in people if person.stage == stage.name]
            progress |= head_counts.progress_in(stage, in_stage)
        for person in people:
            person.study = self.study
        return [Place.from_row(person, progress.get(person.pk)) for person in people]

    @cached_property
    def errors(self) -> Sequence[Mapping[str, Any]]:
        """Errors of the last day, counted by kind and message."""
        events = SessionEvent.objects.filter(
            at__gte=timezone.now() - ERROR_AGE,
            kind__in=ERROR_KINDS,
            participant__study=self.study,
            participant__purpose=self.filter.purpose,
        )
        counts = (
            events.order_by()
            .values("kind", "detail")
            .annotate(count=Count("pk"), people=Count("participant", distinct=True), last=Max("at"))
        )
        return list(counts.order_by("-people", "-count", "-last")[:MAX_ERRORS])


# Content


def live_context(study: Study, parameters: Mapping[str, str]) -> Json:
    """The part of the page that refreshes automatically."""
    now = timezone.now()
    text = parameters.get("page", "")
    page = max(1, int(text)) if text.isdecimal() and len(text) < 7 else 1
    monitor = Monitor(study, MonitorFilter.from_query(study, parameters), page)
    purpose = monitor.filter.purpose
    raised = alarms(study) if purpose == LIVE else []
    return {
        "now": now,
        "is_live": purpose == LIVE,
        "purpose_links": purpose_links(purpose),
        "alarms": raised,
        "figures": key_figures(monitor, {check.rule.key for check in raised}),
        "moves": STATE_MOVES[study.state],
        "meaning": STATE_MEANINGS[study.state],
        "steps": step_rows(funnel(monitor.groups)),
        "arms": arm_rows(monitor),
        "filters": list_filters(monitor),
        "people": [person_row(place, now) for place in monitor.people],
        "paging": paging(monitor),
        "errors": [
            {**row, "kind": SessionEvent.Kind(row["kind"]).label, "last": moment(row["last"], now)}
            for row in monitor.errors
        ],
    }


def key_figures(monitor: Monitor, alarmed: Collection[str]) -> list[Json]:
    """The numbers at the top. Duration and pay are marked if their checks need attention."""
    people, study, is_live = monitor.head_count, monitor.study, monitor.filter.purpose == LIVE
    excluded = f"; {people.excluded} excluded" if people.excluded else ""
    rows = [
        ("under_way", "Under way", people.under_way, "seen recently and not yet finished"),
        ("finished", "Finished", people.done, f"of {people.joined} who joined{excluded}"),
        ("lost", "Lost", share(people.lost, places=0), "of the sessions that have ended"),
    ]
    if is_live:
        taken, limit = monitor.places_taken, study.max_participants
        value = taken if limit is None else f"{taken} of {limit}"
        left = "no limit" if limit is None else f"{max(0, limit - taken)} left"
        rows.append(("places", "Places taken", value, left))
    duration = monitor.median_duration
    rows += [
        (
            "minutes",
            "Median duration",
            UNKNOWN if duration is None else format_duration(duration),
            f"participants are told {study.minutes} min",
        ),
        ("pay", "Pay per hour", *hourly_pay(study, duration)),
    ]
    return [
        {
            "key": key,
            "title": title,
            "value": value,
            "note": note,
            # An unknown value is not what needs attention.
            "is_alarm": key in ("minutes", "pay") and key in alarmed and value != UNKNOWN,
        }
        for key, title, value, note in rows
    ]


def hourly_pay(study: Study, duration: timedelta | None) -> tuple[str, str]:
    """The pay per hour at the median duration, without the bonus, and a note."""
    if study.reward is None:
        return UNKNOWN, "set the pay on the set-up page to see it"
    pay = f"{study.currency} {study.reward}"
    if not duration:
        return UNKNOWN, f"{pay} each; nobody has finished yet"
    hourly = float(study.reward) / (duration / timedelta(hours=1))
    return f"{study.currency} {hourly:.2f}", f"at {pay} for the median duration, without bonus"


def step_rows(steps: list[Step]) -> list[Json]:
    joined = steps[0].reached
    rows = []
    for step in steps:
        is_end = step.stage == Stage.DONE
        earlier = None if is_end else stages.before(step.stage)
        if is_end:
            title = "Finished"
        elif earlier is None:
            title = "Joined"
        else:
            title = (earlier.passed_label or stages.by_name()[step.stage].label).capitalize()
        rows.append(
            {
                "title": title,
                "reached": step.reached,
                "share": share(step.reached / joined, places=0) if joined else UNKNOWN,
                "width": bar_width(step.reached, joined),
                "here": UNKNOWN if is_end else step.here,
                "lost": UNKNOWN if is_end else step.lost,
            }
        )
    return rows


def arm_rows(monitor: Monitor) -> list[Json]:
    study = monitor.study
    target = study.target_per_arm if monitor.filter.purpose == LIVE else None
    longest = max([target or 0, *(arm.done + arm.under_way for arm in monitor.arms.values())])
    rows = []
    for arm, head_count in monitor.arms.items():
        is_own = arm in study.arm_names
        rows.append(
            {
                "name": arm,
                "title": teacher_title(arm) if arm else "none yet",
                "head_count": head_count,
                "lost": share(head_count.lost, places=0),
                "target": target if is_own else None,
                "done_width": bar_width(head_count.done, longest),
                "taken_width": bar_width(head_count.done + head_count.under_way, longest),
                "target_at": bar_width(target, longest) if target and is_own else "",
                "is_own": is_own,
                "is_closed": is_own and arm not in study.open_arms,
                "is_last_open": study.open_arms == [arm],
            }
        )
    return rows


def bar_width(part: int, whole: int) -> str:
    """The width of a bar in percent."""
    return f"{100 * part / whole:.1f}" if whole else "0"


def list_filters(monitor: Monitor) -> list[FilterLinks]:
    """The filters of the list. Each value has the number of participants; empty ones are left out."""
    teachers = {arm: teacher_title(arm) for arm in monitor.arms if arm}
    filters = {
        "place": ("Where", place_titles()),
        "arm": ("Teacher", {"": "All", **teachers, UNASSIGNED: "None yet"}),
    }
    links = []
    for name, (title, titles) in filters.items():
        selected, default = getattr(monitor.filter, name), getattr(MonitorFilter(), name)
        counts = {
            value: monitor.count(replace(monitor.filter, **{name: value})) for value in titles
        }
        shown = {
            "" if value == default else value: f"{label} {counts[value]}"
            for value, label in titles.items()
            if counts[value] or value in (selected, default)
        }
        links.append(filter_links(title, name, shown, monitor.filter.query))
    return links


def person_row(place: Place, now: datetime) -> Json:
    person, progress = place.participant, ""
    if place.progress:
        done, total = place.progress
        unit = stages.by_name()[place.status].unit
        progress = f"{unit} {min(done + 1, total)} of {total}"
    return {
        "code": person.code,
        "url": reverse("admin:studies_participant_change", args=[person.pk]),
        "status": place.status,
        "where": place_titles()[place.status],
        "is_excluded": person.is_excluded,
        "arm": teacher_title(person.arm) if person.arm else UNKNOWN,
        "progress": progress,
        "width": bar_width(*place.progress) if place.progress else "0",
        "since": moment(place.since, now),
        "seen": moment(person.last_seen_at, now),
    }


def moment(then: datetime, now: datetime) -> Json:
    return {"at": then, "ago": time_ago(now - then)}


def time_ago(elapsed: timedelta) -> str:
    """In the largest unit that fits at least once."""
    seconds = elapsed.total_seconds()
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "now"


def paging(monitor: Monitor) -> Json:
    here = min(monitor.page, monitor.pages)

    def link(page: int) -> str:
        return query_string({**monitor.filter.query, "page": str(page) if page > 1 else ""})

    return {
        "here": here,
        "pages": monitor.pages,
        "total": monitor.count(monitor.filter),
        "newer": link(here - 1) if here > 1 else None,
        "older": link(here + 1) if here < monitor.pages else None,
    }


# Views


def monitor(request: HttpRequest, study: Study) -> HttpResponse:
    context = live_context(study, request.GET) | {"path": address(study, "monitor")}
    return study_page(request, study, "admin/desk/monitor.html", "Monitor", context)


def news(request: HttpRequest, study: Study) -> HttpResponse:
    """The part of the page that refreshes automatically, as an HTML fragment."""
    page = {"study": study, "may_edit": may_edit(request, study), "path": address(study, "monitor")}
    context = live_context(study, request.GET) | page
    response = TemplateResponse(request, "admin/desk/_monitor_live.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


def button(action: Callable[..., str]) -> View:
    """A view that runs an action, shows its message, and returns to the monitor with the same filters."""

    @wraps(action)
    def view(request: HttpRequest, study: Study, **arguments: str) -> HttpResponse:
        try:
            messages.success(request, action(request, study, **arguments))
        except StateNotAllowed as error:
            messages.error(request, error.message)
        query = MonitorFilter.from_query(study, request.GET).query
        return redirect(address(study, "monitor") + query_string(query))

    return view


@button
def close_arm(request: HttpRequest, study: Study, arm: str) -> str:
    services.close_arm(study, arm, request.user)
    return f"{teacher_title(arm)} is closed to new participants. Those who have it continue."


@button
def open_arm(request: HttpRequest, study: Study, arm: str) -> str:
    services.reopen_arm(study, arm, request.user)
    return f"{teacher_title(arm)} is open to new participants again."


@button
def add_places(request: HttpRequest, study: Study) -> str:
    text = request.POST.get("more", "")
    more = int(text) if text.isdecimal() and len(text) < 7 else 0
    return f"There are now {services.add_places(study, more, request.user)} places."


PAGES = (
    Page("monitor", "monitor/", monitor, title="Monitor", is_often_opened=True),
    Page("monitor_news", "monitor/news/", news),
    Page("close_arm", "monitor/arms/<slug:arm>/close/", close_arm, edits=True, posts=True),
    Page("open_arm", "monitor/arms/<slug:arm>/open/", open_arm, edits=True, posts=True),
    Page("add_places", "monitor/places/", add_places, edits=True, posts=True),
)
