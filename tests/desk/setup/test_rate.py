"""The learning rate in the set-up: it follows the data set until a person types another."""

import pytest

from studies.models import Study
from tests.admin_form import form_values
from tests.builders import make_dataset, make_study
from tests.people import text_of

pytestmark = pytest.mark.django_db

NEW = "/admin/studies/study/add/"


@pytest.fixture
def slow():
    return with_rate(0.2)


@pytest.fixture
def fast():
    return with_rate(2.02)


def with_rate(rate: float):
    dataset = make_dataset(teaching=60, evaluation=100)
    dataset.learning_rate = rate
    dataset.save()
    return dataset


def address_of(study: Study) -> str:
    return f"/admin/studies/study/{study.pk}/change/"


def sent(client, path: str, **changes):
    values = form_values(client, path) | changes
    reply = client.post(path, values, follow=True)
    assert reply.redirect_chain, reply.context["adminform"].form.errors
    return reply.content.decode()


def test_a_study_made_of_a_data_set_has_its_rate_without_a_word(researcher, fast):
    page = text_of(researcher, f"{NEW}?dataset={fast.pk}")
    assert 'data-suggested="2.02"' in page
    assert "η₀ = 2.02, as the data set suggests" in page
    consent = "Do you agree to take part?"
    sent(researcher, f"{NEW}?dataset={fast.pk}", title="A", slug="a", consent=consent)
    study = Study.objects.get()
    assert (study.learning_rate, study.effective_learning_rate) == (None, 2.02)


def test_a_link_to_a_new_form_may_name_no_data_set_or_nonsense(researcher):
    for query in ("", "?dataset=", "?dataset=nonsense", "?dataset=999999"):
        assert 'data-suggested=""' in text_of(researcher, NEW + query)


def test_an_untouched_rate_follows_when_the_data_set_is_changed(researcher, slow, fast):
    study = make_study(dataset=slow)
    sent(researcher, address_of(study), dataset=fast.pk)
    study = Study.objects.get()
    assert (study.learning_rate, study.effective_learning_rate) == (None, 2.02)


def test_a_typed_rate_stays_when_the_data_set_is_changed_and_is_questioned(researcher, slow, fast):
    study = make_study(dataset=slow)
    assert "far from" not in sent(researcher, address_of(study), learning_rate="0.3")
    page = sent(researcher, address_of(study), dataset=fast.pk)
    assert Study.objects.get().effective_learning_rate == 0.3
    assert "η₀ = 0.3 is 6.73 times smaller than the 2.02" in page


def test_the_check_says_what_the_chosen_data_set_suggests(researcher, slow, fast):
    study = make_study(dataset=slow)

    def verdict(**changes):
        values = form_values(researcher, address_of(study)) | changes
        return researcher.post(f"/admin/studies/study/{study.pk}/check/", values).json()["rate"]

    assert verdict()["suggested"] == "0.2"
    assert verdict(dataset=fast.pk)["suggested"] == "2.02"
    assert verdict(dataset=fast.pk)["question"] == ""
    assert "times smaller" in verdict(dataset=fast.pk, learning_rate="0.2")["question"]
    assert verdict(learning_rate="-1") == {"suggested": "", "sentence": "", "question": ""}


def test_a_study_from_before_keeps_its_rate_and_its_page_says_so(researcher, fast):
    study = make_study(dataset=fast)
    Study.objects.filter(pk=study.pk).update(learning_rate=0.03)
    page = text_of(researcher, address_of(study))
    assert "The learning rate is far from what the data set suggests." in page
    assert "η₀ = 0.03 is 67.3 times smaller than the 2.02" in page
    assert Study.objects.get().learning_rate == 0.03
