"""Where engines have differed or might: each of them shows the same thing."""

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from .conftest import DESKTOP, PHONE, AtQuestion, Join, MakeStudy, Visit
from .researcher import sign_in
from .visitor import Visitor

PAPER = {"light": "rgb(245, 241, 231)", "dark": "rgb(20, 23, 20)"}
GROUND = "getComputedStyle(document.documentElement).backgroundColor"
FILLS = """
() => [...document.querySelectorAll(".progress-part")].map((part) => {
  const width = (selector) => part.querySelector(selector).getBoundingClientRect().width;
  return width(".progress-fill") / width(".progress-bar");
})
"""
ROWS_FIT = """
() => [...document.querySelectorAll(".form-row > div")].every(
  (row) => row.getBoundingClientRect().right <= document.scrollingElement.clientWidth
)
"""


@pytest.mark.parametrize(("scheme", "device"), [("light", DESKTOP), ("dark", PHONE)])
def test_the_pages_follow_the_system_into_the_dark(
    scheme: str, device: dict, visit: Visit, join: Join, study: MakeStudy
) -> None:
    visitor = visit(f"/s/{study()}/", **device, color_scheme=scheme)
    assert visitor.page.evaluate(GROUND) == PAPER[scheme]
    visitor.open(f"/w/{join('teaching').token}/")
    visitor.see("intro-teaching")
    assert visitor.page.evaluate(GROUND) == PAPER[scheme]


def test_the_bar_is_as_full_as_the_answers_given(visit: Visit, join: Join) -> None:
    visitor = visit(f"/w/{join('evaluation', answers=3).token}/")
    visitor.look_at_the_picture()
    assert visitor.page.evaluate(FILLS) == pytest.approx([1, 1, 0.5], abs=0.01)


def test_a_dialog_is_as_tall_as_its_words(visit: Visit, join: Join) -> None:
    visitor = visit(f"/w/{join('consent').token}/", **PHONE)
    visitor.page.click("#consent-decline")
    visitor.page.wait_for_selector("#consent-dialog[open]")
    visitor.finish_animations()
    dialog = visitor.page.locator("#consent-dialog").bounding_box()
    last = visitor.page.locator("#consent-dialog .actions").bounding_box()
    assert dialog["height"] < visitor.page.viewport_size["height"] / 2
    assert dialog["y"] + dialog["height"] - (last["y"] + last["height"]) < 40


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_picture_stays_where_it_is_when_the_answer_comes(
    device: dict, at_question: AtQuestion
) -> None:
    visitor = at_question("teaching", **device)
    asked = visitor.page.locator(".specimen").bounding_box()
    visitor.page.click("#choice-1")
    visitor.see("teaching-feedback")
    assert visitor.page.locator(".specimen").bounding_box() == pytest.approx(asked, abs=0.5)


def test_a_drag_marks_no_text_and_a_click_marks_the_whole_code(
    visit: Visit, join: Join, study: MakeStudy
) -> None:
    """Safari knows this property by its old name alone."""
    worker = join("done", study(completion_code="C0FFEE42"))
    visitor = visit(f"/w/{worker.token}/")
    visitor.see("done")
    assert selects(visitor, "#completion-code") == "all"
    visitor.open(f"/w/{join('teaching').token}/")
    visitor.begin()
    visitor.look_at_the_picture()
    assert selects(visitor, ".specimen-image") == "none"


def selects(visitor: Visitor, selector: str) -> str:
    style = "((style) => style.userSelect ?? style.webkitUserSelect)(getComputedStyle(node))"
    return str(visitor.page.locator(selector).evaluate(f"(node) => {style}"))


@pytest.mark.usefixtures("researcher_account")
def test_an_archive_is_sent_from_a_narrow_window_and_leads_to_the_page_of_its_import(
    visit: Visit, tmp_path: Path
) -> None:
    archive = tmp_path / "pictures.zip"
    archive.write_bytes(zipped_pictures())
    visitor = visit(**PHONE)
    sign_in(visitor)
    visitor.open("/admin/datasets/import/add/")
    assert visitor.page.evaluate(ROWS_FIT)
    visitor.page.fill("#id_name", "Sent by a browser")
    visitor.page.set_input_files("input[type=file]", archive)
    visitor.page.click("[name=_save]")
    visitor.page.wait_for_selector("[data-state-url]")
    assert "Sent by a browser" in visitor.text("#content h1")


def zipped_pictures() -> bytes:
    """As few as an import takes; nobody looks at them here."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(40):
            picture = io.BytesIO()
            Image.new("RGB", (64, 64), (6 * number, 90, 120)).save(picture, "PNG")
            archive.writestr(f"{('moth', 'bee')[number % 2]}/{number}.png", picture.getvalue())
    return file.getvalue()
