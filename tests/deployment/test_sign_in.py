"""The researcher's door: a first password by a link that works once, and a lock after wrong ones."""

import io
import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone

from jedi_web.management.commands.prepare import first_password_link
from jedi_web.sign_in import ADDRESS_FAILURE_LIMIT

pytestmark = pytest.mark.django_db
PASSWORD = "a good long passphrase"


def first_link() -> str:
    first = first_password_link()
    assert first is not None
    return first[1]


def follow(client: Client, link: str):
    path = link.removeprefix("http://127.0.0.1:8000")
    return client.get(path, follow=True)


def set_password(client: Client, link: str, password: str = PASSWORD):
    page = follow(client, link)
    address = page.redirect_chain[-1][0]
    return client.post(address, {"new_password1": password, "new_password2": password})


def sign_in(client: Client, password: str, name: str = "researcher"):
    return client.post("/admin/login/", {"username": name, "password": password})


def test_the_first_researcher_sets_the_password_by_the_link_and_is_signed_in():
    client = Client()
    reply = set_password(client, first_link())
    assert (reply.status_code, reply["Location"]) == (302, "/admin/")
    assert client.get("/admin/").status_code == 200
    later = Client()
    assert sign_in(later, PASSWORD).status_code == 302
    assert later.get("/admin/").status_code == 200


def is_dead(link: str) -> bool:
    return "new_password1" not in follow(Client(), link).content.decode()


def test_a_link_of_a_deactivated_account_sets_no_password():
    link = first_link()
    client = Client()
    address = follow(client, link).redirect_chain[-1][0]
    User.objects.update(is_active=False)
    assert is_dead(link)
    # A form that was open before is refused too.
    client.post(address, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert not User.objects.get().has_usable_password()
    assert client.get("/admin/")["Location"].startswith("/admin/login/")


def test_a_newer_link_replaces_the_earlier_one():
    earlier, newer = first_link(), first_link()
    assert is_dead(earlier)
    assert set_password(Client(), newer).status_code == 302
    assert User.objects.get().has_usable_password()


def test_the_link_works_once():
    link = first_link()
    set_password(Client(), link)
    assert is_dead(link)
    assert first_password_link() is None


def test_there_is_no_default_password():
    first_password_link()
    user = User.objects.get()
    assert not user.has_usable_password()
    for guess in ("", "researcher", "admin", "password", "None"):
        assert not user.check_password(guess)


def test_the_link_is_shown_again_until_it_was_used_and_makes_one_user():
    assert first_password_link() is not None
    assert first_password_link() is not None
    assert User.objects.count() == 1


def test_a_weak_first_password_is_refused():
    link = first_link()
    assert set_password(Client(), link, "12345678").status_code == 200
    assert not User.objects.get().has_usable_password()


def test_the_link_names_the_superuser_that_it_is_for():
    User.objects.create_superuser("ada", password=None)
    assert first_password_link()[0] == "ada"
    assert User.objects.count() == 1


def test_a_changed_link_sets_nothing():
    assert is_dead(first_link()[:-2] + "x/")


def test_preparing_prints_the_links_and_again_changes_no_data():
    from tests.builders import database_snapshot

    def prepare() -> str:
        output = io.StringIO()
        call_command("prepare", "--no-demo", stdout=output)
        return output.getvalue()

    assert re.search(
        r"this link works once\):\s+http://127.0.0.1:8000/admin/first-password/", prepare()
    )
    # The new link replaces the earlier one.
    unless = ["desk_passwordlink"]
    before = database_snapshot(but=unless)
    prepare()
    assert database_snapshot(but=unless) == before
    set_password(Client(), first_link())
    assert "works once" not in prepare()


def test_five_wrong_passwords_close_the_door_even_for_the_right_one():
    client = Client()
    set_password(client, first_link())
    for _ in range(4):
        assert sign_in(client, "wrong").status_code == 200
    assert sign_in(client, "wrong").status_code == 429
    reply = sign_in(client, PASSWORD)
    assert reply.status_code == 429
    assert "Too many attempts" in reply.content.decode()


def test_a_lock_is_for_one_name_from_one_address():
    set_password(Client(), first_link())
    attacker = Client(REMOTE_ADDR="203.0.113.9")
    for _ in range(6):
        reply = sign_in(attacker, "wrong")
    assert reply.status_code == 429
    assert sign_in(Client(REMOTE_ADDR="198.51.100.7"), PASSWORD).status_code == 302


def test_behind_a_proxy_an_attacker_does_not_lock_everybody_out(settings):
    settings.JEDI_PROXIES = 1
    set_password(Client(), first_link())
    proxy = {"REMOTE_ADDR": "10.0.0.1"}
    # The first address is the attacker's own invention; the proxy appends the true one.
    attacker = [
        Client(**proxy, HTTP_X_FORWARDED_FOR=f"198.51.100.{k}, 203.0.113.9") for k in range(6)
    ]
    replies = [sign_in(client, "wrong") for client in attacker]
    assert replies[-1].status_code == 429
    researcher = Client(**proxy, HTTP_X_FORWARDED_FOR="198.51.100.7")
    assert sign_in(researcher, PASSWORD).status_code == 302


def test_without_a_proxy_a_forwarded_address_is_not_believed():
    set_password(Client(), first_link())
    replies = [sign_in(Client(HTTP_X_FORWARDED_FOR=f"198.51.100.{k}"), "wrong") for k in range(6)]
    assert replies[-1].status_code == 429


def spray(number: int, **headers: str) -> list[int]:
    """Try one password for as many user names, from one client."""
    client = Client(**headers)
    return [sign_in(client, "wrong", f"name-{k}").status_code for k in range(number)]


def test_one_address_cannot_try_a_password_for_any_number_of_names():
    set_password(Client(), first_link())
    codes = spray(ADDRESS_FAILURE_LIMIT + 2, REMOTE_ADDR="203.0.113.9")
    assert codes == [200] * ADDRESS_FAILURE_LIMIT + [429] * 2
    assert sign_in(Client(REMOTE_ADDR="203.0.113.9"), PASSWORD).status_code == 429
    assert sign_in(Client(REMOTE_ADDR="198.51.100.7"), PASSWORD).status_code == 302


def test_a_lab_behind_one_address_can_sign_in_although_five_people_are_locked_out():
    set_password(Client(), first_link())
    lab = {"REMOTE_ADDR": "203.0.113.9"}
    for k in range(5):
        codes = [sign_in(Client(**lab), "wrong", f"colleague-{k}").status_code for _ in range(7)]
        assert codes == [200] * 4 + [429] * 3
    assert sign_in(Client(**lab), "wrong").status_code == 200
    assert sign_in(Client(**lab), PASSWORD).status_code == 302


def test_signing_in_resets_only_the_failures_of_that_name():
    set_password(Client(), first_link())
    spray(ADDRESS_FAILURE_LIMIT - 1)
    assert sign_in(Client(), PASSWORD).status_code == 302
    assert spray(2) == [200, 429]


def test_attempts_during_a_lockout_do_not_prolong_it():
    set_password(Client(), first_link())
    spray(ADDRESS_FAILURE_LIMIT)
    earlier = timezone.now() - timedelta(minutes=14)
    AccessAttempt.objects.update(attempt_time=earlier)
    assert sign_in(Client(), PASSWORD).status_code == 429
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=2))
    assert sign_in(Client(), PASSWORD).status_code == 302


def test_an_ipv6_client_gets_no_more_attempts_by_using_all_its_addresses():
    codes = [
        sign_in(Client(REMOTE_ADDR=f"2001:db8:1:2::{k}"), "wrong").status_code for k in range(1, 7)
    ]
    assert codes == [200] * 4 + [429] * 2
    assert sign_in(Client(REMOTE_ADDR="2001:db8:1:3::1"), "wrong").status_code == 200
