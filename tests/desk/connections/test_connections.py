"""Webhooks: every finished live session is told once, signed, again until it is heard, and to nobody inside."""

import hashlib
import hmac
import json
import socket
import threading
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from desk import connections, outbound
from desk.connections import MAX_TRIES, WAITS, enqueue_due, signature
from desk.models import WebhookDelivery
from jobs.recovery import look_for_lost_work
from studies import sessions
from studies.answers import record_answer
from studies.models import AuditEntry, Participant, Study
from tests.builders import make_dataset, make_study
from tests.desk.connections.receiver import running_receiver
from tests.people import browser_of, make_researcher, share, study_address
from tests.worker import Worker

State = WebhookDelivery.State


@pytest.fixture
def inside(settings) -> None:
    """The receiver of a test is on this machine, where the product sends nothing by itself."""
    settings.JEDI_WEBHOOK_PRIVATE = True


def hooked(url: str = "https://hooks.example.org/done", **fields) -> Study:
    dataset = make_dataset(teaching=12, evaluation=6)
    return make_study(dataset=dataset, arms="rt", webhook_url=url, **fields)


def work() -> None:
    """What the background worker does until there is nothing left to do."""
    call_command("work", once=True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("inside")
def test_a_finished_session_is_told_once_with_a_signature_that_can_be_checked():
    with running_receiver() as receiver:
        study = hooked(receiver.url)
        worker = Worker(study, PROLIFIC_PID="5f1e", SESSION_ID="s1")
        worker.go_to("done")
        work()
        work()
    [(headers, body)] = receiver.received
    person = worker.participant
    told = json.loads(body)
    assert told == {
        "event": "session.finished",
        "study": study.slug,
        "participant": person.code,
        "arm": "rt",
        "first_seen_accuracy": person.first_seen_accuracy,
        "evaluation_accuracy": person.evaluation_accuracy,
        "teaching_gain": person.teaching_gain,
        "joined_at": person.created_at.isoformat(),
        "consented_at": person.consented_at.isoformat(),
        "teaching_started_at": person.teaching_started_at.isoformat(),
        "evaluation_started_at": person.evaluation_started_at.isoformat(),
        "finished_at": person.finished_at.isoformat(),
    }
    assert b"5f1e" not in body and person.token.encode() not in body
    # As docs/api.md tells receivers to check it.
    signed = headers["JEDI-Timestamp"].encode() + b"." + body
    wanted = hmac.new(study.webhook_secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["JEDI-Signature"] == f"sha256={wanted}"
    assert headers["Content-Type"] == "application/json"
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.tries, delivery.answer) == ("sent", 1, "answered 204")
    assert headers["JEDI-Delivery"] == str(delivery.pk)


def test_the_signature_is_what_openssl_makes_of_time_and_body():
    assert signature("secret", 1700000000, b'{"a": 1}') == (
        "sha256=942c6f7e34ef5c448cbbbf79276da392036d59f0bd9fb74ba14eb8e83e2bb6cd"
    )


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", ["pilot", "preview", "rehearsal"])
def test_only_live_sessions_are_told(purpose):
    worker = Worker(hooked())
    Participant.objects.update(purpose=purpose)
    worker.go_to("done")
    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db
def test_a_study_without_a_webhook_tells_nobody():
    Worker(hooked("")).go_to("done")
    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db
def test_a_delivery_is_made_with_the_last_answer_or_not_at_all(monkeypatch):
    worker = Worker(hooked())
    worker.go_to("evaluation")
    size = worker.participant.study.evaluation_size
    for _ in range(size - 1):
        worker.answer_current()
    assert not WebhookDelivery.objects.exists()
    state = worker.get().json()
    payload = worker.obvious(state)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        record_answer(sessions.find(worker.token), state["task"]["position"], payload)
        assert WebhookDelivery.objects.count() == 1
        raise ZeroDivisionError
    assert not WebhookDelivery.objects.exists()
    worker.answer_current()
    assert WebhookDelivery.objects.get().participant == worker.participant


def waiting(url: str = "https://hooks.example.org/") -> WebhookDelivery:
    return connections.announce_test(hooked(url))


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
def test_what_is_not_heard_is_tried_six_times_in_a_day_and_then_given_up():
    with running_receiver(*[500] * 10) as receiver:
        delivery = waiting(receiver.url)
        moments = []
        for tries in range(MAX_TRIES):
            assert delivery.state == State.WAITING
            before = timezone.now()
            connections.deliver(delivery, tries)
            delivery.refresh_from_db()
            moments.append(delivery.next_try_at - before)
        connections.deliver(delivery, MAX_TRIES)
    assert len(receiver.received) == MAX_TRIES == 6
    assert (delivery.state, delivery.answer) == ("failed", "answered 500")
    for wait, moment in zip(WAITS, moments, strict=False):
        assert wait <= moment < wait + timedelta(minutes=1)
    assert timedelta(hours=23) < sum(WAITS, timedelta()) < timedelta(hours=25)
    bodies = {body for _, body in receiver.received}
    assert len(bodies) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
def test_what_fails_at_first_is_heard_later():
    with running_receiver(503, 200) as receiver:
        delivery = waiting(receiver.url)
        connections.deliver(delivery, 0)
        connections.deliver(delivery, 1)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries) == ("sent", 2)


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
def test_two_orders_for_one_try_send_one_request():
    with running_receiver(500, 500) as receiver:
        delivery = waiting(receiver.url)
        connections.deliver(delivery, 0)
        connections.deliver(WebhookDelivery.objects.get(), 0)
    assert len(receiver.received) == 1


@pytest.mark.django_db
def test_the_worker_wakes_up_for_what_is_due_and_for_nothing_else(
    django_capture_on_commit_callbacks,
):
    delivery = waiting()

    def orders() -> int:
        with django_capture_on_commit_callbacks(execute=True):
            enqueue_due()
        return DBTaskResult.objects.count()

    assert orders() == 0
    WebhookDelivery.objects.update(next_try_at=timezone.now())
    assert orders() == 1
    assert orders() == 1, "it was ordered a moment ago"
    WebhookDelivery.objects.update(next_try_at=timezone.now(), state=State.SENT)
    assert orders() == 1
    [order] = DBTaskResult.objects.all()
    assert order.args_kwargs["args"] == [delivery.pk, 0]


@pytest.mark.django_db
def test_a_delivery_whose_worker_died_is_tried_again(django_capture_on_commit_callbacks):
    delivery = waiting()
    assert connections.claim_try(delivery, 0)
    WebhookDelivery.objects.update(next_try_at=timezone.now())
    with django_capture_on_commit_callbacks(execute=True):
        look_for_lost_work()
    [order] = DBTaskResult.objects.all()
    assert order.args_kwargs["args"] == [delivery.pk, 1]


@pytest.mark.django_db
def test_a_delivery_that_only_waits_its_turn_is_not_queued_twice(
    django_capture_on_commit_callbacks,
):
    with django_capture_on_commit_callbacks(execute=True):
        waiting()
    for _ in range(3):
        WebhookDelivery.objects.update(next_try_at=timezone.now())
        with django_capture_on_commit_callbacks(execute=True):
            enqueue_due()
    assert DBTaskResult.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
def test_a_worker_that_wakes_up_after_the_next_try_changes_nothing():
    with running_receiver(200) as receiver:
        delivery = waiting(receiver.url)
        sleeper = WebhookDelivery.objects.get()
        assert connections.claim_try(sleeper, 0)
        connections.deliver(delivery, 1)
    sleeper.settle(state=State.FAILED, answer="answered 500")
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries, delivery.answer) == ("sent", 2, "answered 200")


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
def test_a_delivery_whose_worker_died_at_the_last_try_is_given_up():
    with running_receiver() as receiver:
        delivery = waiting(receiver.url)
        WebhookDelivery.objects.update(tries=MAX_TRIES)
        connections.deliver(delivery, MAX_TRIES)
    assert receiver.received == []
    assert (delivery.state, delivery.answer) == (
        "failed",
        "The background worker stopped at the last try.",
    )


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
def test_a_redirect_is_not_followed():
    with running_receiver(302) as receiver:
        delivery = waiting(receiver.url)
        connections.deliver(delivery, 0)
    assert len(receiver.received) == 1
    assert (delivery.state, delivery.answer) == ("waiting", "answered 302")


@pytest.mark.django_db
def test_a_webhook_that_was_taken_away_is_given_up():
    delivery = waiting()
    Study.objects.update(webhook_url="")
    delivery.study.refresh_from_db()
    connections.deliver(delivery, 0)
    assert delivery.state == State.FAILED


INSIDE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::",
    "::7f00:1", "::8.8.8.8", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808", "fec0::1", "192.88.99.1", "192.0.0.9",
    "64:ff9b::c058:6301", "2002:808:808::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "3fff::1",
    "4000::1", "5f00::1", "100::1", "::ffff:0:8.8.8.8",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_known(address):
    assert not outbound.is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_addresses_of_the_open_internet_are_known(address):
    assert outbound.is_public(address)


@pytest.fixture
def names(monkeypatch) -> dict[str, list[str]]:
    """A register of names of our own; everything else is asked of the system."""
    known: dict[str, list[str]] = {}
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host, port, *args, **options):
        asked.append(host)
        if host not in known:
            return real(host, port, *args, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    known["asked"] = asked
    return known


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:8000/",
        "https://[::1]/",
        "https://[::7f00:1]/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://localhost/",
    ],
)
def test_nothing_is_sent_to_an_address_inside(url):
    with pytest.raises(outbound.NotSent, match="private network"):
        outbound.resolve(url)


def test_a_name_with_one_address_inside_is_refused(names):
    names["hooks.example"] = ["8.8.8.8", "10.0.0.1"]
    with pytest.raises(outbound.NotSent, match=r"hooks\.example is inside a private network"):
        outbound.resolve("https://hooks.example/x")


@pytest.mark.usefixtures("inside")
def test_the_request_goes_to_the_address_that_was_judged(names):
    names["hooks.example"] = ["127.0.0.1"]
    with running_receiver() as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.example")
        assert outbound.post(url, b"{}", {}) == 204
    assert names["asked"].count("hooks.example") == 1
    [(headers, _)] = receiver.received
    assert headers["Host"].startswith("hooks.example:")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.org/", "begin with https"),
        ("file:///etc/passwd", "begin with https"),
        ("//example.org/", "begin with https"),
        ("http://8.8.8.8/", "https://.* JEDI_WEBHOOK_PRIVATE=1"),
        ("https:///path", "begin with https"),
        ("https://example.org:99999/", "not a valid address"),
        ("https://[::1/", "not a valid address"),
        ("https://ada:secret@example.org/", "names and passwords"),
        ("https://no-such-host.invalid/", "No host "),
        ("https://" + "a" * 300 + ".example/", "No host "),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_with_the_reason(url, problem):
    with pytest.raises(outbound.NotSent, match=problem):
        outbound.resolve(url)


@pytest.mark.usefixtures("inside")
def test_a_server_that_cannot_prove_who_it_is_gets_nothing():
    with (
        running_receiver() as receiver,
        pytest.raises(outbound.NotSent, match="could not be reached securely"),
    ):
        outbound.post(receiver.url.replace("http:", "https:"), b"{}", {})
    assert receiver.received == []


@pytest.mark.usefixtures("inside")
def test_nobody_there_is_said_so():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with pytest.raises(outbound.NotSent, match="could not be reached"):
            outbound.post(url, b"{}", {})


@pytest.mark.usefixtures("inside")
def test_a_server_that_answers_a_byte_now_and_then_does_not_hold_the_worker(monkeypatch):
    monkeypatch.setattr(outbound, "TOTAL_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            visitor, _ = server.accept()
            with visitor:
                try:
                    while True:
                        visitor.send(b"H")
                        if ended.wait(0.01):
                            return
                except OSError:
                    return

        ended = threading.Event()
        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(outbound.NotSent, match="did not answer in time"):
            outbound.post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {})
        ended.set()
        thread.join()


# The page of a study's connections


@pytest.fixture
def study(db) -> Study:
    return hooked("", owner=make_researcher("owner"))


def page(study: Study, part: str = "") -> str:
    return study_address(study, f"connections/{part}")


def test_an_owner_sets_tests_and_takes_away_a_webhook(study, settings):
    settings.JEDI_WEBHOOK_PRIVATE = True
    browser = browser_of(study.owner)
    browser.post(page(study, "webhook/"), {"webhook_url": " http://127.0.0.1:9/hook "})
    study.refresh_from_db()
    assert study.webhook_url == "http://127.0.0.1:9/hook"
    browser.post(page(study, "test/"))
    delivery = WebhookDelivery.objects.get()
    assert (delivery.event, json.loads(delivery.body)) == (
        "test",
        {"event": "test", "study": study.slug},
    )
    connections.deliver(delivery, 0)
    text = browser.get(page(study)).content.decode()
    assert study.webhook_secret in text and "could not be reached" in text
    before = study.webhook_secret
    browser.post(page(study, "secret/"))
    study.refresh_from_db()
    assert study.webhook_secret != before
    browser.post(page(study, "webhook/"), {"webhook_url": ""})
    study.refresh_from_db()
    assert study.webhook_url == ""
    browser.post(page(study, "test/"))
    assert WebhookDelivery.objects.count() == 1
    assert AuditEntry.objects.filter(action="share").count() == 3
    assert study.versions.count() == 0


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/", "http://8.8.8.8/", "ftp://example.org/", "https://x@8.8.8.8/"]
)
def test_a_webhook_that_may_not_be_is_refused_on_the_page(study, url):
    reply = browser_of(study.owner).post(page(study, "webhook/"), {"webhook_url": url})
    assert reply.status_code == 200
    assert "errorlist" in reply.content.decode()
    study.refresh_from_db()
    assert study.webhook_url == ""


def test_an_http_webhook_of_an_earlier_release_sends_nothing_and_the_page_says_why(study):
    with running_receiver() as receiver:
        Study.objects.update(webhook_url=receiver.url)
        study.refresh_from_db()
        delivery = connections.announce_test(study)
        connections.deliver(delivery, 0)
    assert receiver.received == []
    # It goes to the new address if that is set within the day of tries.
    assert (delivery.state, delivery.tries) == (State.WAITING, 1)
    assert "https://" in delivery.answer
    reader = browser_of(share(study, make_researcher("reader")))
    for browser in (browser_of(study.owner), reader):
        assert "errornote" in browser.get(page(study)).content.decode()
    Study.objects.update(webhook_url="https://hooks.example.org/")
    assert "errornote" not in reader.get(page(study)).content.decode()


def test_who_may_only_look_sees_neither_secret_nor_address(study):
    Study.objects.update(webhook_url="https://hooks.example.org/key-in-the-address")
    reader = browser_of(share(study, make_researcher("reader")))
    text = reader.get(page(study)).content.decode()
    assert study.webhook_secret not in text
    assert "key-in-the-address" not in text
    for part in ("webhook/", "test/", "secret/"):
        assert reader.post(page(study, part), {"webhook_url": ""}).status_code == 403


def test_no_export_carries_the_secret_of_a_webhook(study):
    Study.objects.update(webhook_url="https://hooks.example.org/key-in-the-address")
    import io
    import zipfile

    reply = browser_of(study.owner).get(
        f"/admin/studies/study/{study.pk}/downloads/everything.zip?identifiable=1"
    )
    files = zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content)))
    content = b"".join(files.read(name) for name in files.namelist())
    assert study.slug.encode() in content
    assert study.webhook_secret.encode() not in content
    assert b"key-in-the-address" not in content
