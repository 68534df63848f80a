"""The comparison at equal steps: only people whom every teacher would have shown the same number of images.

A teacher whose length follows memory shows more images to those who remember more. Adjusting the outcome for the number
of images would mix the two up: within such a teacher the number is a function of memory, and in the other arms it does
not vary. But memory is measured before a teacher is assigned. So among people with a memory for which all teachers show
equally many, the teachers are still assigned at random, and nothing but the teacher differs.
"""

from dataclasses import replace

from studies.models import Study
from teaching.assignment import teaching_length

from .numbers import Numbers, Person


def has_unequal_steps(numbers: Numbers) -> bool:
    return len({person.teaching_steps for person in numbers.people if person.arm}) > 1


def at_equal_steps(numbers: Numbers) -> Numbers:
    """The same numbers, of those people only."""
    settings = numbers.settings
    alike = [person for person in numbers.people if is_alike(person, settings[person.version])]
    others = len(numbers.people) - len(alike)
    return replace(numbers, people=tuple(alike), at_unequal_steps=others)


def is_alike(person: Person, study: Study) -> bool:
    """Whether every teacher of the study shows equally many images to somebody with this memory."""
    if person.memory_span is None:
        return False
    lengths = {teaching_length(study, arm, person.memory_span) for arm in study.arm_names}
    return lengths == {person.teaching_steps}
