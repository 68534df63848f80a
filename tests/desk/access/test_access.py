"""Researchers see and change what is theirs or was shared with them; superusers see all."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.utils import timezone

from desk.accounts import make_password_link
from desk.models import AccessToken
from desk.sharing import PERMISSIONS, RESEARCHERS, create_researchers_group, last_app
from image_datasets.models import Import
from studies import audit
from studies.models import AuditEntry, Dataset, Study, StudyShare
from tests.builders import make_dataset, make_participant, make_study
from tests.people import browser_of, make_researcher, share, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make_researcher("owner")


@pytest.fixture
def study(owner) -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=6, owner=owner), owner=owner)


def test_the_group_of_researchers_is_there_with_its_rights():
    group = Group.objects.get(name=RESEARCHERS)
    given = {p.codename for p in group.permissions.all()}
    wanted = {
        f"{action}_{model}" for (_, model), actions in PERMISSIONS.items() for action in actions
    }
    assert given == wanted
    assert not any("user" in name or "group" in name or "permission" in name for name in given)


def test_a_migration_gives_back_what_is_missing_and_takes_nothing_away():
    from django.contrib.auth.models import Permission

    group = Group.objects.get(name=RESEARCHERS)
    extra = Permission.objects.get(codename="view_user")
    group.permissions.set([extra])
    create_researchers_group(using="default", sender=last_app())
    assert group.permissions.filter(codename="view_study").exists()
    assert extra in group.permissions.all()


def test_a_superuser_makes_a_researcher_who_chooses_the_password_by_a_link(admin_user):
    page = browser_of(admin_user).post(
        "/admin/auth/user/add/", {"username": "grace", "email": "grace@example.org"}
    )
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    link = re.search(r"http://127.0.0.1:8000(/admin/first-password/\S+?)<", page.content.decode())
    grace = User.objects.get(username="grace")
    assert grace.is_staff and not grace.is_superuser and not grace.has_usable_password()
    assert [group.name for group in grace.groups.all()] == [RESEARCHERS]

    visitor = Client()
    form = visitor.get(link[1], follow=True).redirect_chain[-1][0]
    password = "a good long passphrase"
    visitor.post(form, {"new_password1": password, "new_password2": password})
    assert (
        visitor.post("/admin/login/", {"username": "grace", "password": password}).status_code
        == 302
    )
    assert "Add study" not in Client().get("/admin/", follow=True).content.decode()
    assert "/admin/studies/study/add/" in text_of(visitor, "/admin/")


def test_only_a_superuser_makes_links_that_set_passwords(admin_user, owner):
    address = f"/admin/auth/user/{admin_user.pk}/link/"
    assert browser_of(owner).post(address).status_code == 403
    assert browser_of(admin_user).get(address).status_code == 405
    assert "/first-password/" in browser_of(admin_user).post(address).content.decode()


def test_deactivating_an_account_ends_its_password_link_for_good(admin_user, owner):
    browser, address = browser_of(admin_user), f"/admin/auth/user/{owner.pk}/"
    page = browser.post(f"{address}link/").content.decode()
    link = re.search(r"http://127.0.0.1:8000(/admin/first-password/\S+?)<", page)[1]
    assert "new_password1" in Client().get(link, follow=True).content.decode()
    form = {"username": owner.username, "date_joined_0": "2026-01-01", "date_joined_1": "12:00"}
    assert browser.post(f"{address}change/", form).status_code == 302
    assert not User.objects.get(pk=owner.pk).is_active
    assert browser.post(f"{address}link/").status_code == 404
    assert browser.post(f"{address}change/", {**form, "is_active": "on"}).status_code == 302
    assert "new_password1" not in Client().get(link, follow=True).content.decode()


def test_a_study_belongs_to_who_made_it_and_strangers_do_not_see_it(owner):
    dataset = make_dataset(teaching=12, evaluation=6)
    form = {
        field.name: value
        for field in Study._meta.concrete_fields
        if field.editable
        and (value := getattr(make_study(dataset=dataset), field.name)) is not None
    }
    form |= {
        "title": "Mine",
        "slug": "mine",
        "dataset": dataset.pk,
        "state": "draft",
    }
    form |= {"shares-TOTAL_FORMS": 0, "shares-INITIAL_FORMS": 0}
    reply = browser_of(owner).post("/admin/studies/study/add/", form)
    assert reply.status_code == 302, reply.context["errors"]
    assert Study.objects.get(slug="mine").owner == owner
    assert "Mine" in text_of(browser_of(owner), "/admin/studies/study/")
    stranger = browser_of(make_researcher("stranger"))
    assert "Mine" not in text_of(stranger, "/admin/studies/study/")


def test_no_list_and_no_filter_names_a_strangers_study(study):
    make_participant(study)
    audit.record(AuditEntry.Action.EXPORT, "Took a table away.", study=study)
    stranger = browser_of(make_researcher("stranger"))
    for page in ("study", "participant", "dataset", "auditentry"):
        text = text_of(stranger, f"/admin/studies/{page}/")
        for secret in (study.title, study.slug, study.dataset.name, "Took a table away"):
            assert secret not in text, page
    assert study.title in text_of(browser_of(study.owner), "/admin/studies/participant/")


def test_only_data_sets_that_one_may_see_can_be_chosen(study):
    free = make_dataset(teaching=12, evaluation=6, name="Of everybody")
    page = text_of(browser_of(make_researcher("stranger")), "/admin/studies/study/add/")
    assert free.name in page
    assert study.dataset.name not in page
    assert study.dataset.name in text_of(browser_of(study.owner), "/admin/studies/study/add/")


def shares_form(study: Study, *rows: dict) -> dict:
    """The whole form of a study, as its page fills it in, with these colleagues."""
    form = {
        field.name: value
        for field in Study._meta.concrete_fields
        if field.editable and (value := getattr(study, field.attname)) is not None
    }
    form |= {"shares-TOTAL_FORMS": len(rows), "shares-INITIAL_FORMS": study.shares.count()}
    for number, row in enumerate(rows):
        form |= {f"shares-{number}-{name}": value for name, value in row.items()}
    return form


def test_an_owner_shares_a_study_and_it_is_on_record(study):
    address = f"/admin/studies/study/{study.pk}/change/"
    colleague = make_researcher("colleague")
    browser = browser_of(study.owner)
    new = {"user": colleague.pk, "study": study.pk}
    assert browser.post(address, shares_form(study, new)).status_code == 302
    row = StudyShare.objects.get()
    assert (row.user, row.can_edit) == (colleague, False)
    assert study.title in text_of(browser_of(colleague), "/admin/studies/study/")
    # Every column of the list of colleagues has a name, or is no header.
    assert not re.search(r"<th[^>]*>\s*</th>", browser.get(address).content.decode())
    changed = {"id": row.pk, "can_edit": "on", **new}
    assert browser.post(address, shares_form(study, changed)).status_code == 302
    assert StudyShare.objects.get().can_edit
    gone = {"id": row.pk, "DELETE": "on", **new}
    assert browser.post(address, shares_form(study, gone)).status_code == 302
    assert not StudyShare.objects.exists()
    told = list(
        AuditEntry.objects.order_by("pk").values_list("action", "actor__username", "detail")
    )
    assert [row[:2] for row in told if row[0] == "share"] == [("share", "owner")] * 3
    assert "colleague (read)" in told[0][2]


def test_who_was_let_in_does_not_let_others_in(study):
    colleague = share(study, make_researcher("colleague"), can_edit=True)
    third = make_researcher("third")
    row = {"id": study.shares.get().pk, "user": colleague.pk, "study": study.pk, "can_edit": "on"}
    new = {"user": third.pk, "study": study.pk}
    address = f"/admin/studies/study/{study.pk}/change/"
    browser_of(colleague).post(address, shares_form(study, row, new))
    assert not StudyShare.objects.filter(user=third).exists()
    assert browser_of(colleague).get(address).status_code == 200


@pytest.mark.parametrize("can_edit", [False, True])
def test_a_shared_study_is_not_deleted_by_who_it_is_shared_with(study, can_edit):
    browser = browser_of(share(study, make_researcher("colleague"), can_edit=can_edit))
    address = f"/admin/studies/study/{study.pk}/delete/"
    assert browser.post(address, {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [study.pk], "post": "yes"}
    browser.post("/admin/studies/study/", chosen)
    assert Study.objects.filter(pk=study.pk).exists()


def test_an_owner_deletes_a_study_without_participants_and_it_is_on_record(study):
    browser_of(study.owner).post(f"/admin/studies/study/{study.pk}/delete/", {"post": "yes"})
    assert not Study.objects.exists()
    entry = AuditEntry.objects.get(action="delete")
    assert (entry.actor_name, study.slug in entry.detail) == ("owner", True)


def test_a_data_set_is_deleted_by_its_owner_alone(owner):
    dataset = make_dataset(teaching=12, evaluation=6, owner=owner)
    nobodys = make_dataset(teaching=12, evaluation=6)
    stranger = browser_of(make_researcher("stranger"))
    for which in (dataset, nobodys):
        stranger.post(f"/admin/studies/dataset/{which.pk}/delete/", {"post": "yes"})
    assert Dataset.objects.count() == 2
    browser_of(owner).post(f"/admin/studies/dataset/{dataset.pk}/delete/", {"post": "yes"})
    assert list(Dataset.objects.all()) == [nobodys]
    assert str(dataset) in AuditEntry.objects.get(action="delete").detail


def test_the_page_of_a_data_set_names_no_strangers_study(study):
    make_study(dataset=study.dataset, title="A secret study")
    page = text_of(browser_of(study.owner), f"/admin/studies/dataset/{study.dataset.pk}/change/")
    assert study.title in page
    assert "A secret study" not in page


def test_an_image_is_served_to_who_may_see_its_data_set(study):
    key = study.dataset.examples.first().key

    def look(user: User) -> int:
        reply = browser_of(user).get(f"/admin/studies/dataset/images/{key}")
        reply.close()
        return reply.status_code

    assert look(study.owner) == 200
    assert look(make_researcher("stranger")) == 404
    assert look(share(study, make_researcher("colleague"))) == 200


def test_an_import_is_seen_and_steered_by_who_began_it(owner):
    job = Import.objects.create(name="Finches", created_by=owner, state=Import.State.CHOOSING)
    stranger = browser_of(make_researcher("stranger"))
    assert "Finches" not in text_of(stranger, "/admin/datasets/import/")
    assert stranger.get(f"/admin/datasets/import/{job.pk}/state/").status_code == 404
    assert stranger.post(f"/admin/datasets/import/{job.pk}/orders/cancel/").status_code == 404
    job.refresh_from_db()
    assert job.state == Import.State.CHOOSING
    assert "Finches" in text_of(browser_of(owner), "/admin/datasets/import/")
    assert browser_of(owner).get(f"/admin/datasets/import/{job.pk}/state/").status_code == 200


def test_the_short_way_to_an_object_gives_no_session_away(study):
    """Django's own redirects anybody of the staff; a participant's address is all it takes to answer for it."""
    participant = make_participant(study)

    def follow(user: User, thing, sign: str = "") -> int:
        kind = ContentType.objects.get_for_model(thing)
        return browser_of(user).get(f"/admin/r/{sign}{kind.pk}/{thing.pk}/").status_code

    stranger = make_researcher("stranger")
    for sign in ("", "+", "%20", "0/"):
        assert follow(study.owner, participant, sign) == 404
        assert follow(stranger, participant, sign) == 404
    assert follow(stranger, study) == 404
    assert follow(study.owner, study) == 302
    assert browser_of(stranger).get("/admin/r/999999/1/").status_code == 404


def test_a_token_is_shown_once_and_seen_by_its_owner_alone(owner):
    browser = browser_of(owner)
    page = browser.post("/admin/desk/accesstoken/add/", {"name": "nightly", "days": "30"})
    assert "no-store" in page["Cache-Control"]
    secret = re.search(r"jedi_[\w-]{40,}", page.content.decode())[0]
    token = AccessToken.objects.get()
    assert token.user == owner
    assert 29 < (token.expires_at - token.created_at).total_seconds() / 86400 < 31
    assert secret not in str(token.__dict__)
    address = f"/admin/desk/accesstoken/{token.pk}/change/"
    assert secret not in text_of(browser, address)
    assert token.digest not in text_of(browser, address)
    stranger = browser_of(make_researcher("stranger"))
    assert "nightly" not in text_of(stranger, "/admin/desk/accesstoken/")
    assert stranger.post(f"/admin/desk/accesstoken/{token.pk}/revoke/").status_code == 404
    assert AccessToken.objects.for_secret(secret).exists()
    browser.post(f"/admin/desk/accesstoken/{token.pk}/revoke/")
    assert not AccessToken.objects.for_secret(secret).exists()
    details = AuditEntry.objects.filter(action="token").values_list("detail", flat=True)
    assert len(details) == 2


PASSWORD = "a good long passphrase"


def change_own_password(owner: User, admin_user: User, fields: dict[str, str]) -> None:
    owner.set_password("before")
    owner.save()
    form = {"old_password": "before", "new_password1": PASSWORD, "new_password2": PASSWORD}
    browser_of(owner).post("/admin/password_change/", form | fields)


def change_anothers_password(owner: User, admin_user: User, fields: dict[str, str]) -> None:
    form = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    browser_of(admin_user).post(f"/admin/auth/user/{owner.pk}/password/", form | fields)


CHANGES = {change_own_password: "owner", change_anothers_password: "admin"}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("revokes", [True, False])
def test_a_new_password_revokes_access_tokens_unless_they_are_to_stay(
    owner, admin_user, change, revokes
):
    for user, name in (
        (owner, "nightly"),
        (owner, "expired"),
        (owner, "gone"),
        (admin_user, "others"),
    ):
        AccessToken.objects.create(user=user, name=name, digest=name)
    AccessToken.objects.filter(name="expired").update(expires_at=timezone.now())
    AccessToken.objects.filter(name="gone").update(revoked_at=timezone.now())
    change(owner, admin_user, {"revoke_tokens": "on"} if revokes else {})
    owner.refresh_from_db()
    assert owner.check_password(PASSWORD)
    valid = {token.name for token in AccessToken.objects.all().valid()}
    assert valid == ({"others"} if revokes else {"nightly", "others"})
    entries = AuditEntry.objects.filter(action="token")
    assert [entry.actor_name for entry in entries] == ([CHANGES[change]] if revokes else [])
    assert all("nightly" in entry.detail and "gone" not in entry.detail for entry in entries)


def test_the_choice_is_ticked_and_offered_only_if_there_are_tokens(owner, admin_user):
    pages = [
        (browser_of(owner), "/admin/password_change/"),
        (browser_of(admin_user), f"/admin/auth/user/{owner.pk}/password/"),
    ]
    for browser, address in pages:
        assert 'name="revoke_tokens"' not in text_of(browser, address)
    AccessToken.objects.create(user=owner, name="nightly", digest="x")
    for browser, address in pages:
        [box] = re.findall(r"<input[^>]*revoke_tokens[^>]*>", text_of(browser, address))
        assert "checked" in box


def test_a_password_that_is_refused_revokes_nothing(owner, admin_user):
    AccessToken.objects.create(user=owner, name="nightly", digest="x")
    change_own_password(owner, admin_user, {"revoke_tokens": "on", "old_password": "wrong"})
    change_anothers_password(owner, admin_user, {"revoke_tokens": "on", "password2": "other"})
    # Only the button to disable the password disables it.
    change_anothers_password(owner, admin_user, {"revoke_tokens": "on", "usable_password": "false"})
    assert AccessToken.objects.all().valid().exists()


def test_a_password_link_revokes_access_tokens(owner):
    AccessToken.objects.create(user=owner, name="nightly", digest="x")
    link = "/admin/" + make_password_link(owner).partition("/admin/")[2]
    visitor = Client()
    form = visitor.get(link, follow=True).redirect_chain[-1][0]
    visitor.post(form, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert not AccessToken.objects.all().valid().exists()
    entry = AuditEntry.objects.get(action="token")
    assert (entry.actor, "nightly" in entry.detail) == (owner, True)


def test_the_record_can_be_read_and_not_changed(study):
    entry = audit.record(AuditEntry.Action.EXPORT, "Took a table away.", study=study)
    browser = browser_of(study.owner)
    assert "Took a table away" in text_of(browser, "/admin/studies/auditentry/")
    for path, body in (
        (f"{entry.pk}/change/", {"detail": "x"}),
        (f"{entry.pk}/delete/", {"post": "yes"}),
    ):
        assert browser.post(f"/admin/studies/auditentry/{path}", body).status_code == 403
    assert browser.post("/admin/studies/auditentry/add/", {}).status_code == 403
    assert AuditEntry.objects.get().detail == "Took a table away."
