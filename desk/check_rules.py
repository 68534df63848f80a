"""The rules of the check list, in its order: each judges one thing about a study and links to where to fix it."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cached_property, lru_cache
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.text import capfirst

from analysis.charts.formatting import duration
from rehearsal.models import Rehearsal
from studies.classes import PEOPLE
from studies.demo_texts import CONSENTS as DEMO_CONSENTS
from studies.models import Outcome, Participant, Study
from studies.models.settings import ScoreTold
from studies.models.versions import tidy
from studies.rates import rate_question, rate_sentence
from studies.shortcuts import shortcuts_of
from studies.summary import counted, misfit, summarise
from studies.version_groups import VersionChoice, choose_versions, versions_in_words
from teaching.assignment import teaching_lengths
from teaching.ceiling import NO_FEATURES, ceiling_of
from teaching.estimates import estimate_question, estimate_sentence
from teaching.pool_files import damage_of

from .page import address
from .quality_flags import MIN_PACE

Purpose = Participant.Purpose
REFERENCES = [field.name for field in Study._meta.concrete_fields if field.is_relation]

# If the ceiling exceeds chance by less, the teachers cannot differ by much.
MIN_HEADROOM = 0.2
# The significance level of a comparison.
ALPHA = 0.05
# In standard deviations. A study that misses larger differences than these misses nearly everything.
LARGE_EFFECT = 0.8
# The names of the outcomes in a forecast.
FORECAST_OUTCOMES = {Outcome.GAIN: "gain", Outcome.EVALUATION: "evaluation"}
# Prolific's minimum hourly pay, by currency.
MIN_HOURLY_PAY = {"GBP": 6, "USD": 8}
# Pay above this multiple of the minimum is probably a typing error.
MAX_PAY_FACTOR = 10
# The hourly pay at the measured duration may be at most this multiple of the planned one.
MAX_MEASURED_PAY_FACTOR = 2
# A shorter text cannot name the researchers, the purpose, the data and a contact.
MIN_CONSENT_WORDS = 40


class Grade(StrEnum):
    FINE = "fine"
    NOTE = "note"
    """Worth knowing before opening. Not shown on the monitor."""
    QUESTION = "question"
    """Could spoil the study. Also shown on the monitor."""
    OBSTACLE = "obstacle"
    """The study cannot run."""


@dataclass(frozen=True)
class Link:
    title: str
    url: str


@dataclass(frozen=True)
class Finding:
    """The result of a rule: a sentence and, if something needs attention, where to fix it."""

    grade: Grade
    sentence: str
    link: Link | None = None

    @property
    def is_alarm(self) -> bool:
        return self.grade in (Grade.QUESTION, Grade.OBSTACLE)


def fine(sentence: str) -> Finding:
    return Finding(Grade.FINE, sentence)


def note(sentence: str, link: Link) -> Finding:
    return Finding(Grade.NOTE, sentence, link)


def question(sentence: str, link: Link) -> Finding:
    return Finding(Grade.QUESTION, sentence, link)


def obstacle(sentence: str, link: Link) -> Finding:
    return Finding(Grade.OBSTACLE, sentence, link)


@dataclass(frozen=True)
class SessionTimes:
    """The durations of finished sessions in seconds, from consent to the end. Not empty."""

    seconds: tuple[float, ...]
    who: str

    @property
    def n(self) -> int:
        return len(self.seconds)

    @property
    def median(self) -> timedelta:
        return timedelta(seconds=median(self.seconds))


def session_times(study: Study, purpose: str, who: str = "participants") -> SessionTimes | None:
    """The durations of the finished sessions that count; None if there are none."""
    people = study.participants.counted(purpose).completed()
    times = people.order_by().values_list("consented_at", "finished_at")
    seconds = tuple((end - start).total_seconds() for start, end in times if start and end)
    return SessionTimes(seconds, who) if seconds else None


class StudyData:
    """What several rules need to know about a study, each read once."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def problems(self) -> list[str]:
        """Settings that do not fit together or do not suit the data set."""
        try:
            # References and the unique link name are enforced by the database.
            self.study.full_clean(exclude=REFERENCES, validate_unique=False)
        except ValidationError as error:
            return error.messages
        return []

    @cached_property
    def estimated_minutes(self) -> int | None:
        """None while the settings have problems."""
        if self.problems:
            return None
        return summarise(self.study, teaching_lengths(self.study)).minutes

    @cached_property
    def times(self) -> SessionTimes | None:
        """Of live participants or, before any has finished, of pilots."""
        live = session_times(self.study, Purpose.LIVE)
        return live or session_times(self.study, Purpose.PILOT, "pilots")

    @cached_property
    def versions(self) -> VersionChoice:
        return choose_versions(self.study, self.study.participants.live())

    def setting(self, name: str, title: str = "") -> Link:
        """A field of the study's form, by default under its own name."""
        form = reverse("admin:studies_study_change", args=[self.study.pk])
        field: Any = Study._meta.get_field(name)
        return Link(title or capfirst(str(field.verbose_name)), f"{form}#id_{name}")

    def page(self, name: str, title: str, anchor: str = "") -> Link:
        return Link(title, address(self.study, name) + anchor)

    @property
    def dataset_page(self) -> Link:
        url = reverse("admin:studies_dataset_change", args=[self.study.dataset_id])
        return Link("The data set’s page", url)


# The settings and the data set


def check_settings(data: StudyData) -> Finding:
    if data.problems:
        return obstacle(" ".join(data.problems), data.setting("title", "Set-up"))
    return fine("The settings fit together, and the data set has enough images for them.")


def check_files(data: StudyData) -> Finding:
    if damage := damage_of(data.study.dataset):
        return obstacle(
            f"The teachers’ files of the data set are missing or damaged: {damage} Restore them from a backup, or "
            "import the data set again.",
            data.dataset_page,
        )
    return fine("The teachers’ files of the data set are complete.")


def check_shortcuts(data: StudyData) -> Finding:
    shortcuts = shortcuts_of(data.study.dataset)
    if shortcuts is None:
        return note("This data set has not been checked for shortcuts.", data.dataset_page)
    if not shortcuts.warnings:
        return fine("None of the cues that were checked reveals the classes.")
    first, *others = shortcuts.warnings
    more = f" {len(others)} more on the data set’s page." if others else ""
    return question(first + more, data.dataset_page)


def check_learning_rate(data: StudyData) -> Finding:
    if doubt := rate_question(data.study):
        return question(doubt, data.setting("learning_rate"))
    return fine(rate_sentence(data.study))


def check_estimate(data: StudyData) -> Finding:
    if doubt := estimate_question(data.study):
        return question(doubt, data.setting("jedi_estimator"))
    return fine(estimate_sentence(data.study) or "It is the paper’s.")


def check_ceiling(data: StudyData) -> Finding:
    ceiling = ceiling_of(data.study.dataset)
    if ceiling is None:
        return note(NO_FEATURES, data.dataset_page)
    headroom = ceiling.mean - 1 / len(data.study.dataset.class_names)
    if headroom >= MIN_HEADROOM:
        return fine(f"{ceiling.sentence} Compare results with that, not with 100 %.")
    return question(
        f"{ceiling.sentence} That is {100 * max(headroom, 0):.0f} points above chance, and all differences between "
        "teachers have to fit into them: good teaching will look like failure. Features that separate the classes "
        "better, or easier images, leave more room.",
        data.dataset_page,
    )


# The sample size


def check_target(data: StudyData) -> Finding:
    study, target = data.study, data.study.target_per_arm
    if target is None:
        return note(
            "No target sample size per teacher is set. Decide on it before you see results; the rehearsal shows how "
            "many participants you need to detect a given difference.",
            data.setting("target_per_arm"),
        )
    arms = len(study.arm_names)
    if study.max_participants is not None and study.max_participants < target * arms:
        return question(
            f"The maximum of {study.max_participants} participants is too small for {target} with each of {arms} "
            f"teachers, which takes {target * arms}.",
            data.setting("max_participants"),
        )
    if arms < 2:
        return fine(
            f"The target is {target} participants; with one teacher there is nothing to compare."
        )
    effect = detectable_effect_at(target, ALPHA / (arms - 1))
    link = data.page("rehearsal", "How many participants", "#power")
    if effect is None:
        return question(f"{target} for each teacher are too few for any test.", link)
    sentence = power_sentence(study, target, effect, comparisons=arms - 1)
    if effect > LARGE_EFFECT:
        return question(f"{sentence} Smaller differences will probably be missed.", link)
    return fine(sentence)


def power_sentence(study: Study, target: int, effect: float, *, comparisons: int) -> str:
    outcome = Outcome(study.primary_outcome)
    sd = forecast_sd(study, outcome)
    points = f", about {100 * effect * sd:.0f} points according to the forecast," if sd else ""
    level = "at the 5 % level"
    if comparisons > 1:
        level += f" divided by {comparisons} comparisons"
    return (
        f"With {target} for each teacher, a difference in {outcome.heading.lower()} of {effect:.2f} standard "
        f"deviations{points} is detected with 80 % power ({level})."
    )


@lru_cache(maxsize=256)
def detectable_effect_at(n: int, alpha: float) -> float | None:
    # SciPy takes a moment to load.
    from analysis.stats.power import detectable_effect

    return detectable_effect(n, alpha)


def forecast_sd(study: Study, outcome: Outcome) -> float | None:
    """The standard deviation within teachers in the newest forecast; None without one."""
    forecast = Rehearsal.forecasts_of(study).values_list("pk", flat=True).first()
    return None if forecast is None else pooled_forecast_sd(forecast, FORECAST_OUTCOMES[outcome])


@lru_cache(maxsize=64)
def pooled_forecast_sd(forecast: int, column: str) -> float | None:
    """Cached: a finished forecast does not change, and it has many rows."""
    from analysis.stats import known
    from analysis.stats.power import pooled_sd

    results = Rehearsal.objects.values_list("results", flat=True).get(pk=forecast)
    return pooled_sd([known(row[column] for row in rows) for rows in results.values()])


# What participants agree to and are paid


def check_consent(data: StudyData) -> Finding:
    text, field = tidy(data.study.consent), data.setting("consent")
    if any(tidy(demo).partition("\n")[0] in text for demo in DEMO_CONSENTS):
        return question("The consent text is still the demo’s. Write your own.", field)
    words = len(text.split())
    if words < MIN_CONSENT_WORDS:
        return question(
            f"The consent text has {counted(words, 'word')}, too few to say who asks, for what purpose, what is "
            "stored and whom to contact.",
            field,
        )
    return fine(f"The consent text is your own and has {words} words.")


def check_minutes(data: StudyData) -> Finding:
    estimate = data.estimated_minutes
    if estimate is None:
        return note("Unknown until the settings are corrected.", data.setting("minutes", "Set-up"))
    limit = timedelta(minutes=MIN_PACE * estimate)
    too_fast = sum(one < limit.total_seconds() for one in data.times.seconds) if data.times else 0
    if data.times and too_fast:
        return question(
            f"{too_fast} of the {data.times.n} {data.times.who} who finished took less than {duration(limit)}, "
            f"where the estimate is {counted(estimate, 'minute')}; the median is {duration(data.times.median)}. Some "
            "may be programs: review these sessions before you pay anybody.",
            data.page("quality", "Quality"),
        )
    shown = f"Participants are told {counted(data.study.minutes, 'minute')}"
    minutes, source = minutes_taken(data, estimate)
    if doubt := misfit(data.study.minutes, minutes):
        sentence = f"{shown}, {doubt}. {source[:1].upper()}{source[1:]}."
        return question(sentence, data.setting("minutes"))
    return fine(f"{shown}, and {source}.")


def minutes_taken(data: StudyData, estimate: int) -> tuple[float, str]:
    """The measured duration in minutes or, before anybody has finished, the estimate; and which of them it is."""
    if data.times is None:
        return estimate, f"the estimate is {counted(estimate, 'minute')}"
    taken = data.times.median
    source = f"the median of the {data.times.n} {data.times.who} who finished is {duration(taken)}"
    return taken / timedelta(minutes=1), source


def check_pay(data: StudyData) -> Finding:
    study, field = data.study, data.setting("reward")
    if not study.reward:
        return note("No pay is set, so there is no hourly pay to check.", field)
    if not data.estimated_minutes:
        return note("Unknown until the settings are corrected.", field)

    def hourly_pay(minutes: float) -> float:
        return float(study.reward or 0) * 60 / minutes

    def money(amount: float) -> str:
        return f"{study.currency} {amount:.2f}"

    planned = hourly_pay(data.estimated_minutes)
    minutes, source = minutes_taken(data, data.estimated_minutes)
    hourly = hourly_pay(minutes) if minutes else planned
    sentence = f"{money(float(study.reward))} is {money(hourly)} an hour: {source}."
    # Before anybody has finished, the amount may be wrong; afterwards, participants may have been too fast.
    link = field if data.times is None else data.page("quality", "Quality")
    minimum = MIN_HOURLY_PAY.get(study.currency)
    if minimum and hourly < minimum:
        return question(f"{sentence} Prolific’s minimum is {money(minimum)}.", link)
    if hourly > MAX_MEASURED_PAY_FACTOR * planned:
        factor = f"{hourly / planned:.0f} times the {money(planned)} that follow from the estimate"
        return question(f"{sentence} That is {factor}.", link)
    if minimum and hourly > MAX_PAY_FACTOR * minimum:
        return question(f"{sentence} Check the amount: it is the pay for one session.", link)
    return fine(sentence)


# Links, secrecy, completion and versions


def check_address(data: StudyData) -> Finding:
    parts = urlsplit(data.study.public_url)
    links = data.page("share", "Links")
    if reach := limited_reach(parts.hostname or ""):
        return question(
            f"The participants’ link begins with {parts.scheme}://{parts.netloc}/, which only works {reach}. Set the "
            "server’s public address: JEDI_PUBLIC_URL.",
            links,
        )
    if parts.scheme != "https":
        return question(
            "The participants’ link begins with http://: browsers warn about it, answers are sent unencrypted, and "
            "Mechanical Turk refuses it. Put the server behind HTTPS.",
            links,
        )
    return fine(f"The participants’ link is {data.study.public_url}")


def limited_reach(host: str) -> str:
    """Where a host can be reached from, unless it is from everywhere."""
    if host in ("localhost", "localhost.localdomain"):
        return "on this computer"
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return "" if "." in host else "in your own network"
    if ip.is_loopback or ip.is_unspecified:
        return "on this computer"
    return "" if ip.is_global else "in your own network"


def check_scores(data: StudyData) -> Finding:
    study = data.study
    if study.shows_score and study.score_told == ScoreTold.AT_ONCE:
        return note(
            "The last page shows exact scores at once. From a few dozen of them the class of every evaluation image "
            "can be worked out, even by one person with many anonymous sessions.",
            data.setting("score_told"),
        )
    # Other studies whose scores reveal something about the same evaluation images.
    others = Study.objects.filter(dataset=study.dataset_id, shows_score=True).exclude(pk=study.pk)
    others = others.filter(Q(score_told=ScoreTold.AT_ONCE) | Q(state=Study.State.CLOSED))
    finished = Participant.objects.completed().filter(study=OuterRef("pk"), purpose__in=PEOPLE)
    if titles := [f"“{other}”" for other in others.filter(Exists(finished)).order_by("pk")]:
        return note(
            f"{', '.join(titles)} showed scores for the same evaluation images. Participants who pooled them may know "
            "the classes of these images.",
            data.dataset_page,
        )
    return fine("No score reveals the class of an evaluation image while the study runs.")


def check_completion(data: StudyData) -> Finding:
    if data.study.prolific_return_url:
        return fine("Participants return to Prolific by your link.")
    if data.study.completion_code:
        return fine("Participants get a completion code.")
    return note(
        "Participants from Prolific cannot prove that they finished: there is no return link and no completion code.",
        data.setting("completion_code"),
    )


def check_versions(data: StudyData) -> Finding:
    page = data.page("versions", "Versions")
    live = data.study.participants.live().under_way().filter(last_seen_at__gte=data.study.cutoff)
    earlier = live.exclude(version=data.study.current_version_id).order_by()
    earlier_versions = Counter(earlier.values_list("version__number", flat=True))
    sessions = ""
    if count := earlier_versions.total():
        names = versions_in_words(sorted(earlier_versions))
        under_way = "is still under way and keeps" if count == 1 else "are still under way and keep"
        sessions = f"{counted(count, 'session')} of {names} {under_way} the earlier settings."
    if len(data.versions.groups) > 1:
        return question(
            f"People have joined with {versions_in_words(data.versions.everywhere)}, which differ in: "
            f"{', '.join(data.versions.differing)}. Results keep them apart. {sessions}".strip(),
            page,
        )
    if sessions:
        return note(sessions, page)
    return fine("All participants have the same settings.")


@dataclass(frozen=True)
class Rule:
    key: str
    title: str
    check: Callable[[StudyData], Finding]


RULES = (
    Rule("settings", "Settings", check_settings),
    Rule("files", "Files", check_files),
    Rule("shortcuts", "Shortcuts", check_shortcuts),
    Rule("rate", "Learning rate", check_learning_rate),
    Rule("estimate", "JEDI’s estimate", check_estimate),
    Rule("ceiling", "Ceiling", check_ceiling),
    Rule("target", "Sample size", check_target),
    Rule("consent", "Consent text", check_consent),
    Rule("minutes", "Minutes", check_minutes),
    Rule("pay", "Pay per hour", check_pay),
    Rule("address", "Public address", check_address),
    Rule("scores", "Secrecy of the test", check_scores),
    Rule("completion", "After the last page", check_completion),
    Rule("versions", "Versions", check_versions),
)
