"""Checks of what is taught: whether the images and their features can show what a teacher is worth."""

from __future__ import annotations

from studies.rates import rate_question, rate_sentence
from studies.shortcuts import shortcuts_of
from teaching.ceiling import NO_FEATURES, ceiling_of
from teaching.pool_files import damage_of

from .facts import StudyFacts
from .finding import Finding, fine, note, obstacle, question

# If the ceiling leads guessing by less, all teachers have to share a few points.
ROOM = 0.2


def files(facts: StudyFacts) -> Finding:
    damage = damage_of(facts.study.dataset)
    if damage:
        return obstacle(
            f"The teachers’ files of the data set are missing or damaged: {damage} Bring them back from a backup, or "
            "import the data set again.",
            facts.dataset_page,
        )
    return fine("The teachers’ files of the data set are complete.")


def shortcuts(facts: StudyFacts) -> Finding:
    found = shortcuts_of(facts.study.dataset)
    if found is None:
        return note("Nobody has searched this data set for shortcuts.", facts.dataset_page)
    if not found.warnings:
        return fine("None of the cues that were checked gives the classes away.")
    first, *others = found.warnings
    more = f" {len(others)} more on the data set’s page." if others else ""
    return question(first + more, facts.dataset_page)


def learning_rate(facts: StudyFacts) -> Finding:
    doubt = rate_question(facts.study)
    if doubt:
        return question(doubt, facts.setting("learning_rate", "Learning rate"))
    return fine(rate_sentence(facts.study))


def ceiling(facts: StudyFacts) -> Finding:
    found = ceiling_of(facts.study.dataset)
    if found is None:
        return note(NO_FEATURES, facts.dataset_page)
    lead = found.mean - 1 / len(facts.study.dataset.class_names)
    if lead >= ROOM:
        return fine(f"{found.sentence} Compare results with that, not with 100 %.")
    return question(
        f"{found.sentence} That is {100 * max(lead, 0):.0f} points more than guessing: whatever teachers achieve, they "
        "have to share these points, and good teaching will look like failure. Features that separate the classes "
        "better, or easier images, leave more room.",
        facts.dataset_page,
    )
