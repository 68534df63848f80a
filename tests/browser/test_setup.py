"""The set-up form under a researcher's hands: errors appear as one types, a button restores the paper's settings."""

import pytest

from .conftest import MakeStudy, Visit
from .researcher import NAME, sign_in


@pytest.mark.usefixtures("researcher_account")
def test_the_form_checks_while_one_types_and_takes_the_papers_settings(
    visit: Visit, study: MakeStudy
) -> None:
    study(title="To be set up", arms="rt,jedi", owner=NAME)
    visitor = visit()
    page = visitor.page
    sign_in(visitor)
    visitor.open("/admin/studies/study/")
    page.get_by_role("link", name="To be set up").click()
    # The script is at work: before that, nobody would notice what is typed.
    page.wait_for_selector("[data-paper] button")
    assert "6–8 teaching images and 6 evaluation images" in visitor.text("[data-sentence]")

    # Wrong together with another field, which says why; nothing was saved.
    page.fill("#id_cold_start", "7")
    page.wait_for_selector(".field-short_steps .errorlist")
    assert "7 random images at the start" in visitor.text(".field-other_steps .errorlist")
    assert "Correct the marked settings" in visitor.text("[data-sentence]")
    page.fill("#id_cold_start", "3")
    page.wait_for_selector(".field-short_steps .errorlist", state="detached")

    # The order of teachers, by the arrows.
    page.click("[aria-label='Move JEDI up']")
    assert page.locator(".teachers li b").all_inner_texts()[:2] == ["JEDI", "RT"]

    page.click("[data-paper] button")
    page.wait_for_selector(".field-evaluation_size .errorlist")
    assert "Choose at most 20" in visitor.text(".field-evaluation_size .errorlist")
    assert page.input_value("#id_memory_max_length") == "9"
    ticked = page.locator(".teachers input:checked").evaluate_all(
        "all => all.map((one) => one.value)"
    )
    assert ticked == ["jedi", "imt", "eer", "rt"]

    page.fill("#id_evaluation_size", "20")
    page.wait_for_selector(".field-evaluation_size .errorlist", state="detached")
    assert "20–40 teaching images and 20 evaluation images" in visitor.text("[data-sentence]")
    page.click("[name=_continue]")
    page.wait_for_selector(".messagelist .success")
    assert page.input_value("#id_evaluation_size") == "20"
