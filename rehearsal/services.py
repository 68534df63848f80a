"""Running rehearsals, from the command and from the background worker."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection

from jobs.lease import Lease, work_on
from jobs.models import TakenOver
from studies.models import Participant, Study
from studies.models.versions import configuration_hash
from studies.recruitment import invitation
from teaching.choice import learning_rate_of
from teaching.engine import EngineError

from .bots import Bot, FeatureLookup, NoFeatures
from .forecast import forecast
from .http import Client, ServerError
from .models import Rehearsal
from .simulation import POPULATION, Row

logger = logging.getLogger(__name__)

Progress = Callable[[Rehearsal], object]
BOTS_AT_ONCE = 4
# A paced bot mostly sleeps.
PACED_BOTS_AT_ONCE = 32


def run(
    rehearsal: Rehearsal,
    *,
    address: str = "",
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> None:
    """Runs a rehearsal unless another worker has claimed it, and stores any problem on its row.

    Bots use the server at `address`; a forecast uses `processes`.
    """

    def work(lease: Lease) -> None:
        if rehearsal.kind == Rehearsal.Kind.FORECAST:
            _forecast(rehearsal, processes, progress)
        else:
            _let_bots_take_part(rehearsal, lease, address or settings.JEDI_INTERNAL_URL, progress)

    if rehearsal.claim():
        work_on(rehearsal, lambda lease: _report_on(rehearsal, partial(work, lease)))


def _report_on(rehearsal: Rehearsal, work: Callable[[], None]) -> None:
    try:
        work()
    except (ServerError, NoFeatures, EngineError) as error:
        rehearsal.report(state=Rehearsal.State.FAILED, problem=str(error))
    except BrokenProcessPool:
        rehearsal.report(
            state=Rehearsal.State.FAILED,
            problem="A process was killed, perhaps because memory ran out. Try again with fewer --processes.",
        )
    except TakenOver:
        raise
    except Exception:
        logger.exception("the rehearsal failed")
        rehearsal.report(
            state=Rehearsal.State.FAILED,
            problem="Something unexpected went wrong; the server's log has the details.",
        )
    else:
        rehearsal.report(state=Rehearsal.State.DONE)


def _let_bots_take_part(
    rehearsal: Rehearsal, lease: Lease, address: str, progress: Progress
) -> None:
    rehearsal.report(**settings_used(rehearsal.study))
    sessions = Sessions(rehearsal, lease, address)
    lock = threading.Lock()

    def take_part(number: int) -> None:
        is_finished = sessions.take_part(number)
        with lock:
            _count(rehearsal, is_finished)
            progress(rehearsal)

    at_once = PACED_BOTS_AT_ONCE if rehearsal.is_paced else BOTS_AT_ONCE
    with ThreadPoolExecutor(min(at_once, rehearsal.workers)) as threads:
        futures = [threads.submit(take_part, number) for number in numbers_of(rehearsal)]
        try:
            for future in futures:
                future.result()
        except BaseException:
            # Running bots stop before their next answer; the others do not start.
            lease.ended.set()
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def numbers_of(rehearsal: Rehearsal) -> range:
    """The numbers of the remaining bots.

    It is unknown which numbers a dead worker had started, so every attempt has numbers of its own.
    """
    first = (rehearsal.attempts - 1) * rehearsal.workers
    return range(first, first + max(rehearsal.workers - rehearsal.ended, 0))


class Sessions:
    """Everything that the bots of a rehearsal share."""

    def __init__(self, rehearsal: Rehearsal, lease: Lease, address: str) -> None:
        self.rehearsal, self.lease, self.address = rehearsal, lease, address
        self.study = rehearsal.study
        self.features = FeatureLookup(self.study.dataset)
        self.invitation = invitation(self.study, Participant.Purpose.REHEARSAL)
        self.rate = learning_rate_of(self.study)

    def take_part(self, number: int) -> bool:
        """Runs one session; returns whether the bot finished."""
        seed = [self.rehearsal.seed % 2**32, number]
        worker = POPULATION.worker(self.features.pool, self.rate, seed)
        with closing(Client(self.address)) as client:
            bot = Bot(
                client,
                worker,
                self.features,
                is_paced=self.rehearsal.is_paced,
                sleep=self.lease.ended.wait,
                before_each_request=self.lease.check,
            )
            return bot.take_part(self.study.slug, self.invitation)


def _count(rehearsal: Rehearsal, is_finished: bool) -> None:
    name = "finished" if is_finished else "left"
    rehearsal.report(**{name: getattr(rehearsal, name) + 1})
    # Each bot thread has its own database connection.
    connection.close()


def _forecast(rehearsal: Rehearsal, processes: int, progress: Progress) -> None:
    """Starts over after an interruption; the seed gives the same simulated workers."""
    study = rehearsal.study
    rehearsal.report(finished=0, **settings_used(study))
    rows: list[dict[str, Row]] = []
    with forecast(study, rehearsal.workers, rehearsal.seed, processes) as results:
        for by_arm in results:
            rows.append(by_arm)
            rehearsal.report(finished=len(rows))
            progress(rehearsal)
    rehearsal.report(results={arm: [row[arm] for row in rows] for arm in study.arm_names})


def settings_used(study: Study) -> dict[str, Any]:
    """The settings that are stored on the rehearsal's row."""
    return {
        "configuration_hash": configuration_hash(study.configuration()),
        "learning_rate": study.effective_learning_rate,
    }


def newest_forecast(study: Study) -> Rehearsal | None:
    return Rehearsal.forecasts_of(study).first()
