"""Every screen of a worker, and the shortest way to it."""

from itertools import count
from typing import Any

from tests.site import Site

from . import records
from .conftest import LONG_DISPLAY, Join, MakeStudy, Visit
from .visitor import Visitor

NUMBERS = count(1)


class Opener:
    """Opens a browser at a screen, each by the shortest way."""

    def __init__(self, site: Site, visit: Visit, join: Join, study: MakeStudy) -> None:
        self.site, self.visit, self.join, self.study = site, visit, join, study

    def __call__(self, screen: str, **options: Any) -> Visitor:
        visitor = self.visit(**options)
        # "break" is a word of Python.
        getattr(self, {"break": "break_"}.get(screen, screen.replace("-", "_")))(visitor)
        visitor.see(screen.partition("_")[0])
        return visitor

    def new_name(self) -> str:
        """Somebody else each time: a screen may be opened more than once."""
        return f"person-{next(NUMBERS)}"

    def home(self, visitor: Visitor) -> None:
        visitor.open("/")

    def entry_start(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(welcome='Welcome to this study.')}/")

    def entry_resume(self, visitor: Visitor) -> None:
        self.join("memory", PROLIFIC_PID="looks again")
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID=looks+again")

    def entry_preview(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study()}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")

    def entry_draft(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(state='draft')}/")

    def entry_paused(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(state='paused')}/")

    def entry_closed(self, visitor: Visitor) -> None:
        visitor.open(f"/s/{self.study(state='closed')}/")

    def entry_full(self, visitor: Visitor) -> None:
        slug = self.study(max_participants=1)
        self.site.client().post(f"/api/studies/{slug}/sessions/", {})
        visitor.open(f"/s/{slug}/")

    def entry_done(self, visitor: Visitor) -> None:
        self.join("done", PROLIFIC_PID="did it")
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID=did+it")

    def entry_declined(self, visitor: Visitor) -> None:
        name = self.new_name()
        self.join("consent", PROLIFIC_PID=name).answer(position=1, agree=False)
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID={name}")

    def entry_expired(self, visitor: Visitor) -> None:
        name = self.new_name()
        worker = self.join("consent", PROLIFIC_PID=name)
        records.expire_session(self.site, worker.token)
        visitor.open(f"/s/{self.study()}/?PROLIFIC_PID={name}")

    def over(self, visitor: Visitor) -> None:
        worker = self.join("memory")
        records.expire_session(self.site, worker.token)
        with visitor.expecting("410"):
            visitor.open(f"/w/{worker.token}/")
            visitor.see("over")

    def not_found(self, visitor: Visitor) -> None:
        self._api_answers(visitor, 404)

    def problem(self, visitor: Visitor) -> None:
        # The error is told a moment after the screen has changed.
        with visitor.expecting("page error"), visitor.page.expect_event("pageerror"):
            self._api_answers(visitor, 400)

    def _api_answers(self, visitor: Visitor, status: int) -> None:
        error = {"error": {"code": "", "message": "", "fields": {}}}
        visitor.page.route(
            "**/api/sessions/**", lambda route: route.fulfill(status=status, json=error)
        )
        with visitor.expecting(str(status)):
            visitor.open(f"/w/{self.join('consent').token}/")
            visitor.next_screen("")

    def loading(self, visitor: Visitor) -> None:
        # Never answered: the page waits.
        visitor.page.route("**/api/sessions/**", lambda route: None)
        visitor.open(f"/w/{self.join('consent').token}/")

    def consent(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('consent').token}/")

    def check(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('memory').token}/")
        visitor.page.wait_for_selector("#check-continue:enabled")

    def intro_memory(self, visitor: Visitor) -> None:
        self.check(visitor)
        visitor.pass_check()

    def memory_ready(self, visitor: Visitor, seconds: float = 1) -> None:
        lengths = {"memory_min_length": 9, "memory_max_length": 9}
        slug = self.study(**lengths, memory_extra_seconds=seconds)
        visitor.open(f"/w/{self.join('memory', slug, answers=1).token}/")
        visitor.page.wait_for_selector("#memory-show:enabled")

    def memory_display(self, visitor: Visitor) -> None:
        self.memory_ready(visitor, seconds=LONG_DISPLAY["memory_extra_seconds"])
        visitor.see_the_pictures()

    def memory_recall(self, visitor: Visitor) -> None:
        self.memory_ready(visitor, seconds=LONG_DISPLAY["memory_extra_seconds"])
        visitor.come_to_the_recall()
        visitor.wait_until_settled()

    def memory_feedback(self, visitor: Visitor) -> None:
        self.memory_recall(visitor)
        visitor.page.click("#memory-submit")

    def intro_teaching(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('teaching').token}/")

    def teaching(self, visitor: Visitor) -> None:
        self.intro_teaching(visitor)
        visitor.begin()
        visitor.look_at_the_picture()

    def teaching_feedback(self, visitor: Visitor) -> None:
        self.teaching(visitor)
        visitor.page.click("#choice-1")

    def intro_evaluation(self, visitor: Visitor) -> None:
        visitor.open(f"/w/{self.join('evaluation').token}/")
        visitor.pass_last_feedback()

    def evaluation(self, visitor: Visitor) -> None:
        self.intro_evaluation(visitor)
        visitor.begin()
        visitor.look_at_the_picture()

    def references(self, visitor: Visitor) -> None:
        worker = self.join("teaching", self.study(shows_references=True))
        visitor.open(f"/w/{worker.token}/")
        visitor.begin()

    def break_(self, visitor: Visitor) -> None:
        worker = self.join("evaluation", self.study(evaluation_size=8), answers=4)
        visitor.open(f"/w/{worker.token}/")

    def evaluation_attention(self, visitor: Visitor) -> None:
        worker = self.join("evaluation", self.study(attention_checks=1))
        while not worker.task()["instruction"]:
            worker.answer_current()
        visitor.open(f"/w/{worker.token}/")
        visitor.look_at_the_picture()

    def consent_declining(self, visitor: Visitor) -> None:
        self.consent(visitor)
        visitor.page.click("#consent-decline")

    def memory_fixation(self, visitor: Visitor) -> None:
        """Time stands still while it is shown."""
        self.memory_ready(visitor)
        visitor.page.evaluate(
            "window.requestAnimationFrame = (call) => setTimeout(() => call(0), 16)"
        )
        visitor.page.click("#memory-show")

    def memory_feedback_again(self, visitor: Visitor) -> None:
        self.memory_display(visitor)
        visitor.look_away()

    def teaching_trouble(self, visitor: Visitor) -> None:
        self.teaching(visitor)
        self.lose_the_network(visitor)

    def lose_the_network(self, visitor: Visitor) -> None:
        visitor.page.route("**/answers/", lambda route: route.abort())
        visitor.page.click("#choice-1")
        visitor.page.wait_for_selector("#trouble[open]")

    def teaching_withdrawal(self, visitor: Visitor) -> None:
        self.teaching(visitor)
        visitor.page.click("#withdraw")

    def done(self, visitor: Visitor) -> None:
        self.done_later(visitor, score_told="at_once")

    def done_later(self, visitor: Visitor, **fields: Any) -> None:
        back = "https://recruiter.example/done"
        slug = self.study(completion_code="C0FFEE42", return_url=back, **fields)
        visitor.open(f"/w/{self.join('done', slug).token}/")

    def declined(self, visitor: Visitor) -> None:
        worker = self.join("consent")
        worker.answer(position=1, agree=False)
        visitor.open(f"/w/{worker.token}/")


# A name behind "_" is one of several states of a screen.
PAGES = [
    "home", "loading", "entry_start", "entry_resume", "entry_preview", "entry_draft", "entry_paused", "entry_closed",
    "entry_full", "entry_done", "entry_declined", "entry_expired",
]  # fmt: skip
SESSION = [
    "consent", "check", "intro-memory", "memory-ready", "memory-display", "memory-recall",
    "memory-feedback", "intro-teaching", "references", "teaching", "teaching-feedback", "intro-evaluation",
    "break", "evaluation", "done", "declined", "over", "not-found", "problem",
]  # fmt: skip
DIALOGS = [
    "consent_declining", "memory-fixation", "memory-feedback_again", "teaching_trouble", "teaching_withdrawal",
    "evaluation_attention", "done_later",
]  # fmt: skip
SCREENS = [*PAGES, *SESSION, *DIALOGS]
