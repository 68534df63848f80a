"""Metrics: the totals of all processes for whoever has the token, nothing for anybody else, and about nobody."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from bench.servers import descendants
from tests.site import HttpClient, Site, running_site
from tests.worker import Worker

TOKEN = "a token for the metrics of a test"
ALLOWED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def sqlite_site() -> Iterator[Site]:
    """One that keeps metrics, with two processes; it takes their folder with it when it ends."""
    with running_site(threads=2, JEDI_METRICS_TOKEN=TOKEN) as site:
        yield site
        folder = folder_of(site)
        assert folder.is_dir()
    assert not folder.exists()


def metrics(client: HttpClient) -> dict[str, dict[tuple[str, ...], float]]:
    """Of every metric its values by the values of its labels, which come in the order of their names."""
    reply = client.get("/metrics", ALLOWED)
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(reply.content.decode()):
        for one in family.samples:
            found.setdefault(one.name, {})[tuple(one.labels.values())] = one.value
    return found


def folder_of(site: Site) -> Path:
    """Where the web processes keep their numbers: those that have counted have mapped the files."""
    mapped = (Path(f"/proc/{pid}/maps").read_text() for pid in descendants(site.server_pid))
    return Path(re.findall(r"\s(/\S*jedi-metrics-[^/]+)/", "".join(mapped))[0])


def test_every_process_tells_the_totals_and_a_killed_one_takes_nothing_with_it(sqlite_site):
    client = sqlite_site.client()
    slug = sqlite_site.make_study(arms="jedi")
    worker = Worker(slug, client)
    worker.go_to("evaluation")
    [answers] = {tuple(metrics(client)["jedi_answers_total"].items()) for _ in range(8)}
    [(steps, code)] = sqlite_site.participants(slug, "teaching_steps", "code")
    assert dict(answers)[("teaching",)] == steps
    # The first image comes with the last answer of the memory test, and after the last image none does.
    assert metrics(client)["jedi_teacher_choice_seconds_count"] == {("jedi",): steps}

    folder = folder_of(sqlite_site)
    files = set(folder.iterdir())
    for pid in descendants(sqlite_site.server_pid):
        os.kill(pid, signal.SIGKILL)
    worker.go_to("done")
    after = metrics(client)
    assert dict(answers).items() <= after["jedi_answers_total"].items()
    assert after["jedi_answers_total"][("evaluation",)] == 6
    # One of the two may not have counted before. Those in their places have their numbers, and no others.
    assert files <= set(folder.iterdir())
    assert {file.stem.rpartition("_")[2] for file in folder.iterdir()} <= {"1", "2"}
    answered = "POST", "api/sessions/<str:token>/answers/", "200"
    taken = sum(after["jedi_answers_total"].values())
    assert after["jedi_request_seconds_count"][answered] == taken
    assert after["jedi_sessions"] == {("live", "done"): 1}

    said = client.get("/metrics", ALLOWED).content.decode()
    assert not [word for word in (worker.token, code, slug, TOKEN) if word in said]


def test_the_state_of_jobs_worker_and_disk_is_told(sqlite_site):
    before = metrics(sqlite_site.client())
    assert before["jedi_jobs"][("import", "waiting")] == 0
    assert before["jedi_jobs"][("rehearsal", "failed")] == 0
    assert before["jedi_disk_free_bytes"][()] > 0
    assert "jedi_worker_silence_seconds" not in before
    (sqlite_site.data_dir / "worker-heartbeat").touch()
    assert metrics(sqlite_site.client())["jedi_worker_silence_seconds"][()] >= 0


def test_strangers_find_nothing_and_make_up_no_labels(sqlite_site):
    client = sqlite_site.client()
    nothing = client.get("/nowhere")
    for method, header in (("GET", ""), ("GET", f"Bearer {TOKEN} "[:-2]), ("POST", "Bearer x")):
        reply = client.request(method, "/metrics", headers={"Authorization": header})
        assert (reply.status_code, reply.content) == (404, nothing.content)
    client.request("BREW", "/a-made-up-address")
    seen = metrics(client)["jedi_request_seconds_count"]
    assert seen[("other", "unknown", "404")] == 1
    assert not [labels for labels in seen if "BREW" in labels or "a-made-up" in str(labels)]


@pytest.mark.django_db
def test_without_a_token_there_are_no_metrics():
    assert Client().get("/metrics", headers=ALLOWED).status_code == 404
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
