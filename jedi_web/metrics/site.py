"""How the site is at the moment of asking: sessions, background jobs, their worker, and the disk."""

import shutil
from collections.abc import Iterator

from django.conf import settings
from django.db.models import Count
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from jobs import heartbeat
from jobs.models import FAILED, RUNNING, WAITING, Job
from studies.models import Participant


class SiteCollector(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield sessions()
        yield jobs()
        yield from worker_silence()
        free = shutil.disk_usage(settings.JEDI_DATA_DIR).free
        yield GaugeMetricFamily("jedi_disk_free_bytes", "Free in the data folder.", value=free)


def sessions() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "jedi_sessions", "Sessions by what they are for and their stage.", labels=["purpose", "stage"]
    )  # fmt: skip
    counted = Participant.objects.order_by().values_list("purpose", "stage").annotate(Count("pk"))
    for purpose, stage, number in counted:
        family.add_metric([purpose, stage], number)
    return family


def jobs() -> GaugeMetricFamily:
    """Those that wait, run and have failed always; other states if there are any."""
    family = GaugeMetricFamily(
        "jedi_jobs", "Background jobs by kind and state.", labels=["kind", "state"]
    )
    for kind in Job.__subclasses__():
        counted = kind.rows().order_by().values_list("state").annotate(Count("pk"))
        found = dict.fromkeys((WAITING, RUNNING, FAILED), 0) | dict(counted)
        for state, number in found.items():
            family.add_metric([str(kind._meta.model_name), state], number)
    return family


def worker_silence() -> Iterator[GaugeMetricFamily]:
    """Nothing until a first worker has reported."""
    silence = heartbeat.silence()
    if silence is not None:
        yield GaugeMetricFamily(
            "jedi_worker_silence_seconds",
            "Since a background worker last reported; it does every ten seconds.",
            value=silence,
        )
