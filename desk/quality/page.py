"""Whose session looks odd, and who was excluded: the flags of a study, and the decisions about them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from analysis.charts.tables import Column, Table, row_names
from desk.base.cells import minute, participant_link
from desk.base.filter_links import filter_links, query_of
from desk.base.pages import Page, address, study_page
from desk.models import Decision
from studies.models import Participant, Study
from teaching.teachers import teacher_title

from .behaviour import Flags, flags_by_person
from .exclusion import decide
from .flags import RULES

PAGE_SIZE = 50
LAST_DECISIONS = 50
DECISIONS = (
    Column("When", cell_class="moment"),
    row_names("Participant"),
    Column("Decision"),
    Column("Reason", cell_class="reason"),
    Column("By"),
)
EXCLUDED = "excluded"
READ = (
    "study", "code", "stage", "arm", "is_excluded", "evaluation_accuracy", "created_at", "last_seen_at", "purpose",
)  # fmt: skip


@dataclass(frozen=True)
class ListedPerson:
    """A participant with flags, or an excluded one."""

    participant: Participant
    flags: Flags
    decision: Decision | None = None

    @property
    def teacher(self) -> str:
        return teacher_title(self.participant.arm)

    def weight(self) -> tuple[int, int]:
        return sum(flag.rule.is_strong for flag in self.flags), len(self.flags)

    @property
    def is_strong(self) -> bool:
        return any(flag.rule.is_strong for flag in self.flags)

    @property
    def keys(self) -> set[str]:
        keys = {flag.rule.key for flag in self.flags}
        return keys | {EXCLUDED} if self.participant.is_excluded else keys


def quality(request: HttpRequest, study: Study) -> HttpResponse:
    everybody = listed(study)
    total = len(everybody)
    counts = Counter(key for person in everybody for key in person.keys)
    chosen = chosen_flag(request)
    shown = [person for person in everybody if not chosen or chosen in person.keys]
    page = Paginator(shown, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "people": with_decisions(page.object_list),
        "query": query_of({"flag": chosen}),
        "filters": [filter_links("Flag", "flag", titles(counts, total, chosen), {"flag": chosen})],
        "legend": [(rule, counts[rule.key]) for rule in RULES],
        "decisions": decision_table(study),
        "total": total,
        "strong": sum(person.is_strong for person in everybody),
    }
    return study_page(request, study, "admin/desk/quality/page.html", "Quality", context)


def listed(study: Study) -> list[ListedPerson]:
    """The most strong flags first, then the most flags, then the newest."""
    live = study.participants.live()
    rows = list(live.only(*READ).order_by("-created_at", "-pk"))
    flags = flags_by_person(live, rows)
    found = [ListedPerson(row, flags.get(row.pk, ())) for row in rows]
    return sorted((one for one in found if one.keys), key=ListedPerson.weight, reverse=True)


def chosen_flag(request: HttpRequest) -> str:
    wanted = request.GET.get("flag", "")
    return wanted if wanted in {EXCLUDED, *(rule.key for rule in RULES)} else ""


def titles(counts: Mapping[str, int], total: int, chosen: str) -> dict[str, str]:
    """Only what somebody has, or what is chosen: the legend names every flag."""
    known = {rule.key: rule.title for rule in RULES} | {EXCLUDED: "Excluded"}
    found = {
        key: f"{title} ({counts[key]})"
        for key, title in known.items()
        if counts[key] or key == chosen
    }
    return {"": f"All ({total})"} | found


def with_decisions(people: Iterable[ListedPerson]) -> list[ListedPerson]:
    """With the decision that stands, if there is one."""
    rows = Decision.objects.filter(participant__in=[person.participant.pk for person in people])
    newest = {row.participant_id: row for row in rows.order_by("at", "pk")}
    return [
        ListedPerson(person.participant, person.flags, newest.get(person.participant.pk))
        for person in people
    ]


def decision_table(study: Study) -> Table:
    rows = Decision.objects.filter(participant__study=study).select_related("participant")
    last = rows.only(
        "excludes", "reason", "at", "actor_name", "participant__code", "participant__study"
    )[:LAST_DECISIONS]
    return Table("Decisions", DECISIONS, [decision_row(one) for one in last], is_tall=True)


def decision_row(decision: Decision) -> list[str]:
    return [
        minute(decision.at),
        participant_link(decision.participant_id, decision.participant.code),
        "excluded" if decision.excludes else "included again",
        decision.reason,
        decision.actor_name,
    ]


def exclusion(request: HttpRequest, study: Study, person: int) -> HttpResponseBase:
    """Excludes a participant, or undoes it."""
    participant = get_object_or_404(study.participants, pk=person)
    excludes = request.POST.get("decision") != "include"
    reason = request.POST.get("reason", "")
    try:
        is_new = decide(participant, excludes=excludes, reason=reason, actor=request.user)
    except ValidationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, outcome(participant, excludes, is_new))
    if request.POST.get("from") == "participant":
        return redirect("admin:studies_participant_change", participant.pk)
    return redirect(address(study, "quality"))


def outcome(participant: Participant, excludes: bool, is_new: bool) -> str:
    if not is_new:
        return f"{participant.code} was already {'excluded' if excludes else 'included'}; nothing changed."
    if excludes:
        return f"{participant.code} is now excluded from results, files, balance and payment."
    return f"{participant.code} counts again everywhere."


PAGES = (
    Page("quality", "quality/", quality, title="Quality"),
    Page("exclusion", "people/<int:person>/exclusion/", exclusion, edits=True, posts=True),
)
