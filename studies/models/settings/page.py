"""What the worker's page does beside the tasks themselves."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from .base import SettingsGroup, StudySettings


class PageSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "The worker’s page",
        "What keeps workers informed and at it. Nothing here ever tells how well the evaluation is going.",
        harmless={"shows_offer", "shows_comparison", "explains_bonus"},
        in_the_paper={
            "shows_offer": False,
            "shows_minutes_left": False,
            "shows_round_progress": False,
            "shows_streak": False,
            "shows_effort": False,
            "offers_breaks": False,
            "shows_comparison": False,
            "explains_bonus": False,
        },
    )

    shows_offer = models.BooleanField(
        "say what is offered",
        default=True,
        help_text="Pay, bonus, number of images, minutes and your contact on the first page.",
    )
    shows_minutes_left = models.BooleanField(
        "show the minutes left", default=True, help_text="In the head of every page."
    )
    shows_round_progress = models.BooleanField(
        "show progress within a trial",
        default=True,
        help_text="The bar of the memory test moves with every round. Otherwise it moves with every trial.",
    )
    shows_streak = models.BooleanField(
        "show score and streak while learning",
        default=True,
        help_text="How many answers of the learning part were right, and how many in a row. Never in the evaluation.",
    )
    shows_effort = models.BooleanField(
        "words of effort in the evaluation",
        default=True,
        help_text="A friendly word after 25, 50 and 75 % of the images. It says nothing about accuracy.",
    )
    offers_breaks = models.BooleanField(
        "offer breaks",
        default=True,
        help_text="Between the modules, and in the middle of the evaluation.",
    )
    shows_comparison = models.BooleanField(
        "compare the score with others",
        default=False,
        help_text="On the last page, beside the score: how many of the others who finished did less well. Nothing is "
        "said before ten have finished.",
    )
    explains_bonus = models.BooleanField(
        "say what happens about the bonus",
        default=True,
        help_text="On the last page: who gets it, and that it comes once the study is complete.",
    )
    answer_keys = models.BooleanField(
        "answer by digits and letters",
        default=True,
        help_text="Each class has a key. Workers can switch the keys off for themselves; arrow keys always work.",
    )

    class Meta:
        abstract = True
