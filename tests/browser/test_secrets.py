"""The browser learns no label before the answer: not in the page, not in a reply, not in its stores."""

import json
import re

from playwright.sync_api import Response

from tests.site import Site
from tests.worker import Worker

from . import records
from .conftest import AtQuestion, Join, Visit
from .visitor import Visitor

LATE_WORDS = ("label", "is_correct", "evaluation_accuracy", "arm", "jedi", "imt", "eer")
STORES = """
() => JSON.stringify([
  { ...sessionStorage }, { ...localStorage }, document.cookie, history.state, window.name,
])
"""


def open_and_keep_replies(visit: Visit, worker: Worker) -> tuple[Visitor, list[Response]]:
    """A browser at the beginning of a stage, and everything that it is sent."""
    visitor = visit()
    replies: list[Response] = []
    visitor.context.on("response", lambda reply: replies.append(reply))
    visitor.open(f"/w/{worker.token}/")
    visitor.begin()
    return visitor, replies


def shape(text: str, classes: list[str]) -> str:
    """A page or a reply without what may differ from one picture to the next."""
    text = re.sub(r"/images/[\w-]+", "/images/KEY", text)
    for name in classes:
        text = text.replace(name, "CLASS")
    return re.sub(r"\d+", "N", text)


def test_no_page_no_reply_and_no_store_knows_the_label_before_the_answer(
    site: Site, visit: Visit, join: Join
) -> None:
    worker = join("teaching")
    visitor, replies = open_and_keep_replies(visit, worker)
    visitor.look_at_the_picture()
    classes = visitor.classes()

    state = next(r for r in replies if r.url.endswith(f"/api/sessions/{worker.token}/")).json()
    assert sorted(state["session"].pop("classes")) == sorted(classes)
    assert not any(name in json.dumps(state) for name in classes)
    assert not any(f'"{word}"' in json.dumps(state) for word in LATE_WORDS)

    buttons = visitor.page.locator("#choice-1, #choice-2")
    assert buttons.count() == 2
    buttons.evaluate_all("buttons => buttons.forEach((button) => button.remove())")
    html = visitor.page.inner_html("html")
    assert not any(name in html for name in classes)
    assert not any(name in visitor.page.evaluate(STORES) for name in classes)

    image = next(r for r in replies if "/images/" in r.url)
    headers = json.dumps(image.all_headers())
    assert not any(name in headers or name in image.url for name in classes)
    assert not any(name.encode() in image.body() for name in classes)


def test_pages_and_replies_of_the_test_look_alike_for_both_classes(
    site: Site, visit: Visit, join: Join
) -> None:
    worker = join("evaluation")
    visitor, replies = open_and_keep_replies(visit, worker)
    items = records.evaluation_items(site, worker.token)
    pages, heads = set(), set()
    for item in items:
        visitor.see_position("evaluation", item.position)
        visitor.look_at_the_picture()
        main = visitor.page.inner_html("main")
        pages.add(shape(main, visitor.classes()))
        visitor.page.keyboard.press("1")
    visitor.see("done")
    assert len({item.label for item in items}) == 2
    assert len(pages) == 1

    answers = [r.json() for r in replies if r.url.endswith("/answers/")]
    assert [answer["feedback"] for answer in answers] == [None] * len(items)
    tasks = [answer["task"] for answer in answers[:-1]]
    assert len({tuple(task) for task in tasks}) == 1
    for image in (r for r in replies if "/images/" in r.url):
        heads.add(json.dumps(sorted(set(image.all_headers()) - {"content-length"})))
    assert len(heads) == 1


def test_feedback_says_right_or_wrong_in_words_and_by_an_icon_with_the_label_beside_the_image(
    site: Site, visit: Visit, join: Join
) -> None:
    worker = join("teaching")
    visitor = visit(f"/w/{worker.token}/")
    visitor.begin()
    seen = set()
    for is_right in (True, False):
        visitor.look_at_the_picture()
        step = records.teaching_steps(site, worker.token)[-1]
        classes = visitor.classes()
        right = classes.index(step.label) + 1
        picture = visitor.page.get_attribute(".specimen-image", "src")
        visitor.page.click(f"#choice-{right if is_right else 3 - right}")
        visitor.see("teaching-feedback")
        assert visitor.text("#feedback-label") == step.label
        assert visitor.text("#feedback-verdict") == ("Correct." if is_right else "Incorrect.")
        icon = visitor.page.get_attribute("#question use", "href")
        assert icon == ("#icon-right" if is_right else "#icon-miss")
        assert visitor.page.get_attribute(".specimen-image", "src") == picture
        # Read out with the focus, and nowhere else.
        assert f"This one is {step.label}" in visitor.text("#question:focus")
        assert visitor.text("#announcer") == ""
        assert_beside(visitor, "#feedback-label", ".specimen-image")
        seen.add(icon)
        visitor.page.click("#feedback-continue")
    assert len(seen) == 2


def assert_beside(visitor: Visitor, first: str, second: str) -> None:
    """Both are in sight at once and neither covers the other."""
    height = visitor.page.viewport_size["height"]
    one, other = (visitor.page.locator(name).bounding_box() for name in (first, second))
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= height for box in (one, other))
    apart = one["x"] >= other["x"] + other["width"] or other["x"] >= one["x"] + one["width"]
    below = one["y"] >= other["y"] + other["height"] or other["y"] >= one["y"] + one["height"]
    assert apart or below


def test_an_image_of_somebody_else_is_not_served(at_question: AtQuestion, join: Join) -> None:
    unseen = join("evaluation").task()["image"]["url"].rpartition("/")[2]
    visitor = at_question("teaching")
    url = f"{visitor.base_url}/w/{visitor.token}/images/{unseen}"
    assert visitor.context.request.get(url).status == 404
