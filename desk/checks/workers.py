"""Checks of what workers are told, paid and asked to agree to."""

from __future__ import annotations

from datetime import timedelta

from analysis.charts.formatting import duration as in_minutes
from desk.quality.flags import PACE_SHARE
from studies.demo_texts import CONSENTS as DEMO_CONSENTS
from studies.models import Study
from studies.models.settings import ScoreTold
from studies.models.versions import tidy
from studies.summary import counted, misfit

from .facts import SessionTimes, StudyFacts
from .finding import Finding, Link, fine, note, question

# The least that Prolific allows for an hour, by currency.
LEAST_PER_HOUR = {"GBP": 6, "USD": 8}
# Pay beyond this many times the least is more likely to be a slip than generosity.
GENEROUS = 10
# How far the pay at the measured time may be from the planned one, as a factor.
PAY_FACTOR = 2
# Fewer words cannot say who asks, for what, what is kept, and whom to turn to.
SHORTEST_CONSENT = 40


def minutes(facts: StudyFacts) -> Finding:
    estimate = facts.estimated_minutes
    if estimate is None:
        return note("Unknown until the settings are corrected.", facts.setting("minutes", "Set-up"))
    if facts.times and (hasty := hasty_words(facts.times, estimate)):
        return question(hasty, facts.page("quality", "Quality"))
    told = f"Workers are told {counted(facts.study.minutes, 'minute')}"
    taken, words = time_taken(facts, estimate)
    doubt = misfit(facts.study.minutes, taken)
    if doubt:
        sentence = f"{told}, {doubt}. {words[:1].upper()}{words[1:]}."
        return question(sentence, facts.setting("minutes", "Minutes"))
    return fine(f"{told}, and {words}.")


def hasty_words(times: SessionTimes, estimate: int) -> str:
    """Sessions that no person can have taken; empty if there is none."""
    limit = 60 * PACE_SHARE * estimate
    hasty = times.below(limit)
    if not hasty:
        return ""
    return (
        f"{hasty} of the {times.n} {times.who} who finished took less than {in_minutes(timedelta(seconds=limit))}, "
        f"where the estimate is {counted(estimate, 'minute')}; the median is {in_minutes(times.median)}. Programs may "
        "have answered in their place: look before anybody is paid."
    )


def time_taken(facts: StudyFacts, estimate: int) -> tuple[float, str]:
    """Minutes as they were measured, or else as they are estimated."""
    if facts.times is None:
        return estimate, f"the estimate is {counted(estimate, 'minute')}"
    median = facts.times.median
    words = (
        f"the median of the {facts.times.n} {facts.times.who} who finished is {in_minutes(median)}"
    )
    return median / timedelta(minutes=1), words


def pay(facts: StudyFacts) -> Finding:
    study, field = facts.study, facts.setting("reward", "Pay")
    if not study.reward:
        return note("No pay is set, so there is no pay per hour to check.", field)
    if not facts.estimated_minutes:
        return note("Unknown until the settings are corrected.", field)
    planned = per_hour(study, facts.estimated_minutes)
    taken, words = time_taken(facts, facts.estimated_minutes)
    hourly = per_hour(study, taken) if taken else planned
    sentence = f"{money(study, float(study.reward))} is {money(study, hourly)} an hour: {words}"
    doubt = doubtful_pay(study, hourly, planned)
    return (
        question(f"{sentence}. {doubt}", doubtful_place(facts)) if doubt else fine(f"{sentence}.")
    )


def doubtful_pay(study: Study, hourly: float, planned: float) -> str:
    least = LEAST_PER_HOUR.get(study.currency)
    if least and hourly < least:
        return f"Prolific allows no less than {money(study, least)}."
    if hourly > PAY_FACTOR * planned:
        return f"That is {hourly / planned:.0f} times the {money(study, planned)} that the estimate promises."
    if least and hourly > GENEROUS * least:
        return "Check the amount: it is what one worker gets for one session."
    return ""


def doubtful_place(facts: StudyFacts) -> Link:
    """Before anybody has finished, the amount is to blame; afterwards, those who were too fast may be."""
    if facts.times is None:
        return facts.setting("reward", "Pay")
    return facts.page("quality", "Quality")


def per_hour(study: Study, minutes: float) -> float:
    return float(study.reward or 0) * 60 / minutes


def money(study: Study, amount: float) -> str:
    return f"{study.currency} {amount:.2f}"


def consent(facts: StudyFacts) -> Finding:
    text, field = tidy(facts.study.consent), facts.setting("consent", "Consent text")
    if any(tidy(demo).partition("\n")[0] in text for demo in DEMO_CONSENTS):
        return question("The consent text is still the demo’s. Write your own.", field)
    words = len(text.split())
    if words < SHORTEST_CONSENT:
        return question(
            f"The consent text has {counted(words, 'word')}: too few to say who asks, for what, what is kept and "
            "whom to turn to.",
            field,
        )
    return fine(f"The consent text is your own and has {words} words.")


def scores(facts: StudyFacts) -> Finding:
    field = facts.setting("score_told", "When the score is told")
    if facts.study.shows_score and facts.study.score_told == ScoreTold.AT_ONCE:
        return note(
            "The last page tells exact scores at once. From a few dozen of them the class of every evaluation image "
            "can be worked out, also by one person with many anonymous sessions.",
            field,
        )
    if others := facts.studies_that_told_scores:
        return note(
            f"The last page has told scores of the same evaluation images in {', '.join(others)}. Whoever pooled "
            "them may know the classes of these images.",
            facts.dataset_page,
        )
    return fine(
        "Nobody learns from a score what class an evaluation image has while people take part."
    )


def completion(facts: StudyFacts) -> Finding:
    study = facts.study
    if study.prolific_return_url:
        return fine("Workers return to Prolific by your link.")
    if study.completion_code:
        return fine("Workers get a completion code.")
    return note(
        "Workers from Prolific cannot prove that they finished: there is no return link to it and no completion code.",
        facts.setting("completion_code", "Completion code"),
    )
