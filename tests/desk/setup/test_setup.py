"""Setting a study up in the admin: the form and its live check, teachers, states, links and the list."""

import re
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from desk.setup import PAPER_SETTINGS, TeacherChoice, paper_settings
from studies.models import AuditEntry, Participant, Study, StudyShare, StudyVersion
from teaching.engine import TEACHERS
from tests.admin_form import form_values
from tests.builders import database_snapshot, make_dataset, make_participant, make_study
from tests.people import study_address, text_of

pytestmark = pytest.mark.django_db
UNSEEN = ["django_session", "django_admin_log"]


@pytest.fixture
def study() -> Study:
    return make_study()


def colleague(study: Study, *, can_edit: bool) -> Client:
    user = User.objects.create_user("grace", password="x", is_staff=True)
    rights = ("view_study", "change_study", "add_study", "view_participant")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    StudyShare.objects.create(study=study, user=user, can_edit=can_edit)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


# The form


def test_the_primary_outcome_is_explained_with_a_picture(researcher, study):
    page = text_of(researcher, study_address(study))
    field = page.partition('class="outcome"')[2].partition("</div>")[0]
    words = " ".join(re.sub("<svg.*", "", field, flags=re.DOTALL).split())
    assert len(re.findall(r"\.(?: |$)", words.removesuffix("</p> "))) == 3
    picture = ElementTree.fromstring(re.search("<svg.*</svg>", field, re.DOTALL)[0])
    assert "hard images" in " ".join(picture.itertext())
    assert 'value="teaching_gain" selected' in page


def test_every_setting_is_explained(researcher, study):
    form = researcher.get(study_address(study)).context["adminform"].form
    assert [name for name, field in form.fields.items() if not field.help_text] == []


def test_a_document_that_a_setting_names_is_one_click_away(researcher, study):
    page = text_of(researcher, study_address(study))
    for name in ("beta_mapping", "jedi_estimator"):
        help_text = page.partition(f'id="id_{name}_helptext"')[2].partition("</div>\n")[0]
        assert (
            '“<a href="/admin/docs/people/" target="_blank">What is known about people</a>”'
            in help_text
        )


def test_every_setting_of_a_session_can_be_set(researcher, study):
    form = researcher.get(study_address(study)).context["adminform"].form
    assert set(Study.CONFIGURATION) <= set(form.fields)
    assert "state" not in form.fields, "it has its buttons"


def test_the_page_says_what_the_study_asks_of_a_worker(researcher):
    study = make_study(short=False, dataset=make_dataset(evaluation=100))
    page = text_of(researcher, study_address(study))
    assert (
        "Each worker sees up to 24 memory rounds, 20–40 teaching images and 100 evaluation images, "
        "about 16 minutes." in page
    )
    assert "Workers are told 20 minutes, which fits." in page


def test_the_paper_settings_are_the_defaults_of_every_module():
    settings = paper_settings()
    assert list(settings) == list(PAPER_SETTINGS)
    assert settings["arms"] == "jedi,imt,eer,rt"
    assert (settings["evaluation_size"], settings["learning_rate"]) == (100, None)
    modules = {name for name in Study.CONFIGURATION if name.startswith(("memory_", "learning_"))}
    assert modules <= set(settings)


def test_a_new_study_is_a_draft_of_its_maker(researcher, admin_user):
    values = form_values(researcher, "/admin/studies/study/add/")
    dataset = make_dataset(evaluation=100)
    values |= {"title": "Birds", "slug": "birds", "dataset": dataset.pk, "consent": "Do you agree?"}
    reply = researcher.post("/admin/studies/study/add/", values)
    assert reply.status_code == 302, reply.context["adminform"].form.errors
    study = Study.objects.get()
    assert (study.state, study.owner) == ("draft", admin_user)


# Teachers


def test_every_teacher_of_the_table_can_be_ticked_and_is_explained(researcher, study):
    page = text_of(researcher, study_address(study))
    for name, kind in TEACHERS.items():
        assert f'name="arms" value="{name}"' in page
        assert f"<b>{kind.title}</b>" in page
        assert escape(kind.description) in page


def test_a_teacher_that_this_server_does_not_have_keeps_its_plain_name(researcher):
    study = make_study()
    Study.objects.filter(pk=study.pk).update(arms="oracle,jedi")
    page = text_of(researcher, study_address(study))
    assert "<b>oracle</b>" in page
    assert "This server has no such teacher." in page


def test_teachers_stand_in_the_order_of_the_study(researcher):
    page = text_of(researcher, study_address(make_study(arms="rt,jedi")))
    order = re.findall(r'name="arms" value="(\w+)"( checked)?', page)
    assert order[:2] == [("rt", " checked"), ("jedi", " checked")]
    assert not any(is_checked for _, is_checked in order[2:])


@pytest.mark.parametrize(
    ("ticked", "places", "stored"),
    [
        (["jedi", "rt"], {}, "jedi,rt"),
        (["jedi", "rt"], {"jedi": "2", "rt": "1"}, "rt,jedi"),
        (["jedi", "imt", "rt"], {"jedi": "2", "rt": "1", "imt": "2"}, "rt,jedi,imt"),
        (["jedi", "rt"], {"jedi": "first", "rt": "7"}, "rt,jedi"),
        (["jedi,imt,eer,rt"], {}, "jedi,imt,eer,rt"),
        ([], {"jedi": "1"}, ""),
    ],
)
def test_ticks_and_places_become_the_stored_list(rf, ticked, places, stored):
    form = {"arms": ticked} | {f"arms-place-{name}": place for name, place in places.items()}
    posted = rf.post("/", form).POST
    assert TeacherChoice().value_from_datadict(posted, {}, "arms") == stored


def test_the_form_stores_the_teachers_in_their_order(researcher, study):
    values = form_values(researcher, study_address(study))
    values |= {"arms": ["jedi", "rt"], "arms-place-jedi": "2", "arms-place-rt": "1"}
    assert researcher.post(study_address(study), values).status_code == 302
    study.refresh_from_db()
    assert study.arms == "rt,jedi"


def test_a_study_without_a_teacher_is_refused(researcher, study):
    values = form_values(researcher, study_address(study))
    del values["arms"]
    reply = researcher.post(study_address(study), values)
    assert "arms" in reply.context["adminform"].form.errors


# The check while one types


def checked(client: Client, study: Study, **changes: str):
    values = form_values(client, study_address(study)) | changes
    reply = client.post(study_address(study, "check/"), values)
    assert reply.status_code == 200
    return reply.json()


def test_the_check_finds_nothing_in_what_is_stored(researcher, study):
    verdict = checked(researcher, study)
    assert verdict["errors"] == {}
    assert verdict["summary"]["sentence"].startswith("Each worker sees up to 4 memory rounds, 6–8")
    assert verdict["changes"] == []


WRONG = [
    ({"evaluation_size": "22"}, "evaluation_size"),
    ({"evaluation_size": ""}, "evaluation_size"),
    ({"memory_max_length": "1"}, "memory_max_length"),
    ({"cold_start": "7"}, "short_steps"),
    ({"return_url": "nowhere"}, "return_url"),
]


def test_the_check_says_what_saving_would_say(researcher, study):
    values = form_values(researcher, study_address(study))
    for changes, field in WRONG:
        verdict = researcher.post(study_address(study, "check/"), values | changes).json()
        saving = (
            researcher.post(study_address(study), values | changes).context["adminform"].form.errors
        )
        assert field in verdict["errors"]
        assert verdict["errors"] == {name: list(reasons) for name, reasons in saving.items()}


def test_no_sentence_is_made_of_wrong_numbers(researcher, study):
    assert checked(researcher, study, evaluation_size="7")["summary"] is None
    assert checked(researcher, study, title="")["summary"] is not None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"beta_mapping": "shrunken"}, "β comes from n̄, moved towards the mean of earlier people."),
        ({"beta_mapping": "fixed", "fixed_beta": "0.6"}, "β is 0.6 for every worker."),
        ({"jedi_estimator": "mended"}, "JEDI uses the regularised estimate."),
        ({"jedi_estimator": "mended", "arms": "rt"}, "no effect, because JEDI is not among the"),
    ],
)
def test_the_study_in_words_names_what_is_assumed_otherwise_than_in_the_paper(
    researcher, study, settings, words
):
    as_in_the_paper = checked(researcher, study)["summary"]["advice"]
    assert "β" not in as_in_the_paper and "estimate" not in as_in_the_paper
    assert words in checked(researcher, study, **settings)["summary"]["advice"]


def test_the_check_writes_nothing(researcher, study):
    make_participant(study)
    values = form_values(researcher, study_address(study)) | {"evaluation_size": "10"}
    before = database_snapshot(but=UNSEEN)
    researcher.post(study_address(study, "check/"), values)
    assert database_snapshot(but=UNSEEN) == before


def test_the_check_tells_what_a_new_version_would_change(researcher, study):
    make_participant(study)
    verdict = checked(
        researcher, study, evaluation_size="10", consent="Do you?\nReally?", title="Other"
    )
    assert verdict["changes"] == ["consent text: revised", "evaluation images: 6 → 10"]


def test_the_form_repeats_what_the_data_set_says_about_shortcuts(researcher, study):
    assert checked(researcher, study)["warnings"] == []
    told = {"mean": 0.65, "low": 0.6, "high": 0.71}
    border = {"name": "border", "title": "the colour of the border"} | told
    study.dataset.insight = {
        "accuracy": {"mean": 0.71},
        "counts": [150, 150],
        "shortcuts": {"chance": 0.5, "together": border, "each": [border]},
    }
    study.dataset.save()
    (warning,) = checked(researcher, study)["warnings"]
    assert warning.startswith(
        "The colour of the border alone tells the class of 65 % of the images"
    )
    assert warning in text_of(researcher, study_address(study))


def test_a_study_that_is_not_saved_yet_can_be_checked(researcher):
    make_study(slug="taken")
    verdict = researcher.post(
        "/admin/studies/study/check/",
        form_values(researcher, "/admin/studies/study/add/") | {"slug": "taken"},
    ).json()
    assert {"title", "slug", "dataset", "consent"} == set(verdict["errors"])
    assert verdict["summary"]["sentence"].endswith("about 16 minutes.")
    assert researcher.get("/admin/studies/study/check/").status_code == 405
    assert Study.objects.count() == 1


def test_before_saving_the_form_says_who_is_under_way(researcher, study):
    assert "Nobody has joined yet" in text_of(researcher, study_address(study))
    make_participant(study)
    make_participant(study)
    make_participant(study, purpose="preview")
    page = text_of(researcher, study_address(study))
    assert "<b>2 sessions are under way</b> and keep the settings" in page
    assert "becomes version 2" in page
    Participant.objects.update(stage="done")
    assert "No session is under way." in text_of(researcher, study_address(study))


# States


def test_the_page_offers_the_states_that_may_follow(researcher):
    study = make_study(state="open")
    page = text_of(researcher, study_address(study))
    assert set(re.findall(r'name="state" value="(\w+)"', page)) == {"paused", "closed"}
    assert "The link lets people in, and they count." in page


def test_a_button_changes_the_state_and_leaves_a_record(researcher, admin_user):
    study = make_study(state="open")
    reply = researcher.post(study_address(study, "state/"), {"state": "paused"}, follow=True)
    assert "The study is now paused." in reply.content.decode()
    study.refresh_from_db()
    assert study.state == "paused"
    assert AuditEntry.objects.get().actor == admin_user


def test_a_state_that_may_not_follow_is_refused_in_words(researcher):
    study = make_study(state="closed")
    for state in ("draft", "nonsense", ""):
        reply = researcher.post(study_address(study, "state/"), {"state": state}, follow=True)
        assert "cannot become" in reply.content.decode()
    study.refresh_from_db()
    assert study.state == "closed"


def test_states_are_changed_by_posts_of_editors_alone(researcher, study):
    assert researcher.get(study_address(study, "state/")).status_code == 405
    reader = colleague(study, can_edit=False)
    for page in ("state/", "check/", "preview/open/", "preview/clear/"):
        assert reader.post(study_address(study, page), {"state": "closed"}).status_code == 403
    study.refresh_from_db()
    assert study.state == "open"


def test_a_reader_sees_the_settings_and_no_buttons(study):
    reader = colleague(study, can_edit=False)
    page = text_of(reader, study_address(study))
    assert "about" in page
    assert 'name="state"' not in page
    assert "Paper settings" not in page
    assert 'id="try"' not in text_of(reader, study_address(study, "share/"))


# Saving


def test_a_saved_change_is_a_version_with_its_author(researcher, admin_user, study):
    make_participant(study)
    values = form_values(researcher, study_address(study)) | {"evaluation_size": "10"}
    assert researcher.post(study_address(study), values).status_code == 302
    versions = list(StudyVersion.objects.order_by("number"))
    assert [version.created_by for version in versions] == [None, admin_user]


# Links


def test_the_links_are_ready_to_paste(researcher, settings):
    settings.JEDI_PUBLIC_URL = "https://study.example"
    study = make_study(slug="birds", completion_code="C0FFEE")
    page = text_of(researcher, study_address(study, "share/"))
    link = "https://study.example/s/birds/"
    assert f">{link}</code>" in page
    placeholders = "&amp;".join(
        f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    )
    assert f">{link}?{placeholders}</code>" in page
    assert f"&lt;ExternalURL&gt;{link}&lt;/ExternalURL&gt;" in page
    assert "cannot prove that they finished" not in page
    assert "JEDI_FRAME_ANCESTORS" in page


def test_the_external_question_is_what_mechanical_turk_takes(settings):
    from desk.share import external_question

    settings.JEDI_PUBLIC_URL = "https://study.example"
    question = ElementTree.fromstring(external_question(make_study(slug="birds")))
    space = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd}"
    assert question.tag == f"{space}ExternalQuestion"
    assert [(part.tag, part.text) for part in question] == [
        (f"{space}ExternalURL", "https://study.example/s/birds/"),
        (f"{space}FrameHeight", "0"),
    ]


def test_what_would_hurt_on_a_platform_is_said(researcher, study):
    page = text_of(researcher, study_address(study, "share/"))
    assert "cannot prove that they finished" in page
    assert "begin with https://" in page
    assert "work only on this computer" in page


def test_the_link_can_be_tried_as_a_prolific_participant_would(researcher):
    study = make_study(state="draft")
    page = text_of(researcher, study_address(study, "share/"))
    link = re.search(r'href="(/s/[^"]+)"', page)[1].replace("&amp;", "&")
    worker = Client()
    entry = worker.get(link).content.decode()
    assert "Begin" in entry
    assert "Preview: nothing here counts" in entry
    session = worker.post(link)
    participant = Participant.objects.get()
    assert session["Location"] == participant.get_absolute_url()
    assert (participant.purpose, participant.recruiter) == ("preview", "prolific")
    assert "Preview: nothing here counts" in worker.get(session["Location"]).content.decode()


# The list


def test_the_list_shows_states_people_and_pages(researcher):
    study = make_study(state="pilot")
    make_participant(study)
    Study.objects.update(state="open")
    for stage in ("done", "done", "teaching"):
        person = make_participant(study)
        Participant.objects.filter(pk=person.pk).update(stage=stage)
    page = text_of(researcher, "/admin/studies/study/")
    assert '<span class="state state-open">open</span>' in page
    assert '<td class="field-joined">3</td>' in page
    assert '<td class="field-completed">2</td>' in page
    for name in ("share", "monitor", "results", "downloads"):
        assert f'href="/admin/studies/study/{study.pk}/{name}/"' in page
    assert f'href="/admin/studies/participant/?study__id__exact={study.pk}"' in page


def test_the_list_costs_the_same_however_many_studies_there_are(researcher):
    def cost() -> int:
        with CaptureQueriesContext(connection) as sent:
            researcher.get("/admin/studies/study/")
        return len(sent)

    dataset = make_dataset()
    make_study(dataset=dataset)
    one = cost()
    for _ in range(4):
        make_participant(make_study(dataset=dataset))
    assert cost() == one
