"""The live monitor in words, so that the template only places them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from analysis.charts.formatting import UNKNOWN, share
from analysis.charts.formatting import duration as in_words
from desk.base.filter_links import LIVE, SHOWN, FilterLinks, filter_links, purpose_links, query_of
from desk.checks.table import alarms
from studies import stages
from studies.head_counts import UNDER_WAY, HeadCount
from studies.models import Participant, SessionEvent, Study
from studies.services import STATE_MEANINGS, STATE_MOVES
from teaching.teachers import teacher_title

from .numbers import EVERYBODY, EXCLUDED, UNASSIGNED, Monitor, MonitorFilter, Place, Step

Json = dict[str, Any]
Stage = Participant.Stage


def live_context(study: Study, parameters: Mapping[str, str]) -> Json:
    """The part of the page that refreshes automatically."""
    now = timezone.now()
    titles = place_titles()
    current = Monitor(study, choice_of(study, parameters), page_number(parameters))
    raised = alarms(study) if current.choice.purpose == LIVE else []
    return {
        "now": now,
        "is_live": current.choice.purpose == LIVE,
        "purpose_links": purpose_links(current.choice.purpose),
        "alarms": raised,
        "facts": facts(current, {line.check.key for line in raised}),
        "moves": STATE_MOVES[study.state],
        "meaning": STATE_MEANINGS[study.state],
        "steps": step_rows(current.funnel),
        "arms": arm_rows(current),
        "filters": list_filters(current),
        "people": [person_row(place, titles[place.status], now) for place in current.people],
        "paging": paging(current),
        "troubles": [trouble_row(trouble, now) for trouble in current.troubles],
    }


def place_titles() -> dict[str, str]:
    """Where a participant may be, in the order of a session."""
    labels = stages.labels() | {end.value: end.label for end in Participant.ENDS}
    return {
        UNDER_WAY: "Under way",
        **{name: label.capitalize() for name, label in labels.items()},
        Stage.DONE: "Finished",
        EXCLUDED: "Excluded",
        EVERYBODY: "Everybody",
    }


# What was chosen


def choice_of(study: Study, parameters: Mapping[str, str]) -> MonitorFilter:
    """What the address says, as far as it makes sense."""
    purpose, place, arm = (parameters.get(name, "") for name in ("purpose", "place", "arm"))
    return MonitorFilter(
        purpose if purpose in SHOWN else LIVE,
        place if place in place_titles() else UNDER_WAY,
        arm if arm in (*study.arm_names, UNASSIGNED) else "",
    )


def page_number(parameters: Mapping[str, str]) -> int:
    text = parameters.get("page", "")
    return max(1, int(text)) if text.isdecimal() and len(text) < 7 else 1


def chosen_in(choice: MonitorFilter) -> dict[str, str]:
    """As in the address, where defaults are left out."""
    plain = MonitorFilter()
    names = ("purpose", "place", "arm")
    return {n: getattr(choice, n) for n in names if getattr(choice, n) != getattr(plain, n)}


def list_filters(monitor: Monitor) -> list[FilterLinks]:
    """Whom the list shows."""
    teachers = {arm: teacher_title(arm) for arm in monitor.arms if arm}
    return [
        list_filter(monitor, "Where", "place", place_titles()),
        list_filter(monitor, "Teacher", "arm", {"": "All", **teachers, UNASSIGNED: "None yet"}),
    ]


def list_filter(monitor: Monitor, title: str, name: str, titles: Mapping[str, str]) -> FilterLinks:
    """Each value with the number of those it would show; empty ones are left out."""
    here, plain = getattr(monitor.choice, name), getattr(MonitorFilter(), name)
    counts = {value: monitor.count(replace(monitor.choice, **{name: value})) for value in titles}
    shown = {
        "" if value == plain else value: f"{words} {counts[value]}"
        for value, words in titles.items()
        if counts[value] or value in (here, plain)
    }
    return filter_links(title, name, shown, chosen_in(monitor.choice))


# What is shown


def facts(monitor: Monitor, raised: Collection[str]) -> list[Json]:
    """Each with whether a check of this name raised an alarm about it."""
    people = monitor.head_count
    rows = [
        fact("Under way", people.under_way, "seen recently and not yet finished"),
        fact("Finished", people.done, finished_note(monitor)),
        fact("Lost", share(people.lost, places=0), "of those whose session has ended"),
    ]
    if monitor.choice.purpose == LIVE:
        rows.append(places_fact(monitor))
    return [
        *rows,
        raised_fact(duration_fact(monitor), "minutes" in raised),
        raised_fact(pay_fact(monitor), "pay" in raised),
    ]


def fact(title: str, value: Any, note: str) -> Json:
    return {"title": title, "value": value, "note": note}


def raised_fact(shown: Json, is_raised: bool) -> Json:
    """A number that nobody knows yet is not the one to look at."""
    return shown | {"is_alarm": is_raised and shown["value"] != UNKNOWN}


def finished_note(monitor: Monitor) -> str:
    excluded = monitor.head_count.excluded
    return f"of {monitor.head_count.joined} who joined" + (
        f"; {excluded} excluded" if excluded else ""
    )


def places_fact(monitor: Monitor) -> Json:
    places = monitor.study.max_participants
    if places is None:
        return fact("Places taken", monitor.places_taken, "no limit")
    left = max(0, places - monitor.places_taken)
    return fact("Places taken", f"{monitor.places_taken} of {places}", f"{left} left")


def duration_fact(monitor: Monitor) -> Json:
    duration = monitor.median_duration
    promised = f"workers are told {monitor.study.minutes} min"
    return fact("Median duration", UNKNOWN if duration is None else in_words(duration), promised)


def pay_fact(monitor: Monitor) -> Json:
    """The hourly pay of a worker who takes the median time, without the bonus."""
    reward, duration = monitor.study.reward, monitor.median_duration
    if reward is None:
        return fact("Pay per hour", UNKNOWN, "set the pay on the set-up page to see it")
    currency = monitor.study.currency
    note = f"at {currency} {reward} for the median duration, without bonus"
    if not duration:
        return fact("Pay per hour", UNKNOWN, f"{currency} {reward} each; nobody has finished yet")
    hourly = float(reward) / (duration / timedelta(hours=1))
    return fact("Pay per hour", f"{currency} {hourly:.2f}", note)


def step_rows(steps: list[Step]) -> list[Json]:
    joined = steps[0].reached
    return [
        {
            "title": step_title(step.stage),
            "reached": step.reached,
            "share": share(step.reached / joined, places=0) if joined else UNKNOWN,
            "width": width(step.reached, joined),
            "here": step.here if step.stage != Stage.DONE else UNKNOWN,
            "lost": step.lost if step.stage != Stage.DONE else UNKNOWN,
        }
        for step in steps
    ]


def step_title(name: str) -> str:
    """What those have done who came to a stage: joined the study, passed the stage before, or reached this one."""
    if name == Stage.DONE:
        return "Finished"
    earlier = stages.before(name)
    if earlier is None:
        return "Joined"
    return (earlier.passed_label or stages.by_name()[name].label).capitalize()


def arm_rows(monitor: Monitor) -> list[Json]:
    target = monitor.study.target_per_arm if monitor.choice.purpose == LIVE else None
    taken = [head_count.done + head_count.under_way for head_count in monitor.arms.values()]
    most = max([target or 0, *taken])
    return [
        arm_row(monitor.study, arm, head_count, target, most)
        for arm, head_count in monitor.arms.items()
    ]


def arm_row(study: Study, arm: str, head_count: HeadCount, target: int | None, most: int) -> Json:
    is_own = arm in study.arm_names
    return {
        "name": arm,
        "title": teacher_title(arm) if arm else "none yet",
        "head_count": head_count,
        "lost": share(head_count.lost, places=0),
        "target": target if is_own else None,
        "done_width": width(head_count.done, most),
        "taken_width": width(head_count.done + head_count.under_way, most),
        "target_at": width(target, most) if target and is_own else "",
        "is_own": is_own,
        "is_closed": is_own and arm not in study.open_arms,
        "is_last_open": study.open_arms == [arm],
    }


def width(part: int, whole: int) -> str:
    """Of a bar that is a hundred wide."""
    return f"{100 * part / whole:.1f}" if whole else "0"


def person_row(place: Place, where: str, now: datetime) -> Json:
    person = place.participant
    return {
        "code": person.code,
        "url": reverse("admin:studies_participant_change", args=[person.pk]),
        "where": where,
        "is_excluded": person.is_excluded,
        "arm": teacher_title(person.arm) if person.arm else UNKNOWN,
        "progress": progress_words(place),
        "width": width(*place.progress) if place.progress else "0",
        "since": moment(place.since, now),
        "seen": moment(person.last_seen_at, now),
    }


def progress_words(place: Place) -> str:
    """The unit that a participant is at."""
    if place.progress is None:
        return ""
    done, total = place.progress
    return f"{stages.by_name()[place.status].unit} {min(done + 1, total)} of {total}"


def trouble_row(trouble: Mapping[str, Any], now: datetime) -> Json:
    kind = SessionEvent.Kind(trouble["kind"]).label
    return {**trouble, "kind": kind, "last": moment(trouble["last"], now)}


def moment(then: datetime, now: datetime) -> Json:
    return {"at": then, "ago": ago(now - then)}


def ago(passed: timedelta) -> str:
    """Roughly, in the largest unit that there is one of."""
    seconds = passed.total_seconds()
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "now"


def paging(monitor: Monitor) -> Json:
    here = min(monitor.page, monitor.pages)
    chosen = chosen_in(monitor.choice)

    def to(page: int) -> str:
        return query_of({**chosen, "page": str(page) if page > 1 else ""})

    return {
        "here": here,
        "pages": monitor.pages,
        "total": monitor.listed,
        "newer": to(here - 1) if here > 1 else None,
        "older": to(here + 1) if here < monitor.pages else None,
    }
