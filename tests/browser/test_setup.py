"""The set-up form under a researcher's hands: errors appear as one types, a button restores the paper's settings."""

import pytest

from .conftest import MakeStudy, Visit
from .researcher import NAME, sign_in
from .test_accessibility import assert_axe_finds_nothing


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

    # A β of its own is asked for where the memory decay is fixed.
    beta = page.locator("#id_fixed_beta")
    assert not beta.is_visible()
    page.select_option("#id_beta_mapping", "fixed")
    beta.fill("0.6")
    page.locator("[data-advice]").filter(has_text="β is 0.6 for every worker").wait_for()
    page.select_option("#id_beta_mapping", "paper")
    page.wait_for_selector(".field-fixed_beta .errorlist")
    beta.fill("")
    beta.wait_for(state="hidden")

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


@pytest.mark.usefixtures("researcher_account")
def test_a_study_takes_its_data_sets_rate_and_opens_through_the_check_list(
    visit: Visit, study: MakeStudy
) -> None:
    near, far = (study(owner=NAME, dataset={"separation": distance}) for distance in (1, 4))
    visitor = visit()
    page = visitor.page
    sign_in(visitor)
    visitor.open("/admin/studies/study/add/")
    page.wait_for_selector("[data-paper] button")
    rate = page.locator("#id_learning_rate")

    def choose(dataset: str) -> str:
        """What the form then says about the rate that was not typed, or was."""
        before = visitor.text("[data-rate]")
        page.select_option("#id_dataset", label=f"{dataset} (version 1)")
        page.locator("[data-rate]").filter(has_not_text=before or "nothing yet").wait_for()
        return visitor.text("[data-rate]")

    # A field that nobody touched follows the choice of another data set.
    assert "as the data set suggests" in choose(near)
    first = rate.get_attribute("placeholder")
    assert "as the data set suggests" in choose(far)
    second = rate.get_attribute("placeholder")
    assert first != second and rate.input_value() == ""

    # A number that was typed stays, and is questioned.
    rate.fill("0.0001")
    page.wait_for_selector("[data-rate-question]:not([hidden])")
    choose(near)
    assert rate.input_value() == "0.0001"
    assert f"the {first} that the data set suggests" in visitor.text("[data-rate-question]")
    rate.fill("")
    page.wait_for_selector("[data-rate-question]", state="hidden")

    page.fill("#id_title", "Rate of its own")
    page.fill("#id_consent", "Do you agree?")
    for steps in ("short", "medium", "long", "other"):
        page.fill(f"#id_{steps}_steps", "8")
    page.fill("#id_evaluation_size", "6")
    page.click("[name=_continue]")
    page.get_by_role("link", name="Open the study").click()
    page.wait_for_selector(".checks")
    assert page.get_attribute("#check-rate", "class") == "check is-fine"
    assert page.get_attribute("#check-consent", "class") == "check is-question"
    assert_axe_finds_nothing(visitor)
    page.get_by_role("button", name="Open the study").click()
    page.wait_for_selector("#alarms")
    assert "The study is now open." in visitor.text(".messagelist")
    assert "Consent text" in visitor.text("#alarms")
    assert_axe_finds_nothing(visitor)
