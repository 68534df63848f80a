"""The verbs of a rehearsal. The command, the admin and the background worker call these."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from studies.invitations import invitation
from studies.models import Participant, Study
from studies.models.versions import configuration_hash
from teaching.engine import EngineError, LearningRate

from .bots import Bot, Eyes, NoFeatures
from .forecast import POPULATION, forecast
from .http import Client, ServerTrouble
from .models import Rehearsal

logger = logging.getLogger(__name__)

Progress = Callable[[Rehearsal], None]
BOTS_AT_ONCE = 4
# With think times a bot mostly sleeps.
PACED_BOTS_AT_ONCE = 32


def order(rehearsal: Rehearsal) -> None:
    """Hands a rehearsal to the background worker."""
    from .tasks import carry_out

    rehearsal.save()
    transaction.on_commit(partial(carry_out.enqueue, rehearsal.pk))


def run(rehearsal: Rehearsal, *, address: str = "", progress: Progress = lambda _: None) -> None:
    """Carries a rehearsal out. What goes wrong is told on its row, in words for the researcher."""
    configuration = configuration_hash(rehearsal.study.configuration())
    rehearsal.report(state=Rehearsal.State.RUNNING, configuration_hash=configuration)
    try:
        if rehearsal.kind == Rehearsal.Kind.FORECAST:
            _forecast(rehearsal, progress)
        else:
            _let_bots_take_part(rehearsal, address or settings.JEDI_INTERNAL_URL, progress)
    except (ServerTrouble, NoFeatures, EngineError) as error:
        rehearsal.report(state=Rehearsal.State.FAILED, problem=str(error))
    except Exception:
        logger.exception("the rehearsal failed")
        rehearsal.report(
            state=Rehearsal.State.FAILED,
            problem="Something went wrong on the server; its log has the details.",
        )
    else:
        rehearsal.report(state=Rehearsal.State.DONE)


def _let_bots_take_part(rehearsal: Rehearsal, address: str, progress: Progress) -> None:
    eyes = Eyes(rehearsal.study.dataset)
    text = invitation(rehearsal.study, Participant.Purpose.REHEARSAL)
    at_once = PACED_BOTS_AT_ONCE if rehearsal.is_paced else BOTS_AT_ONCE
    lock = threading.Lock()
    with ThreadPoolExecutor(min(at_once, rehearsal.workers)) as threads:

        def take_part(number: int) -> None:
            stayed = one_session(rehearsal, number, eyes, text, address)
            with lock:
                _count(rehearsal, stayed)
                progress(rehearsal)

        sessions = [threads.submit(take_part, number) for number in range(rehearsal.workers)]
        try:
            for session in sessions:
                session.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def one_session(
    rehearsal: Rehearsal, number: int, eyes: Eyes, invitation_text: str, address: str
) -> bool:
    study = rehearsal.study
    rate = LearningRate(study.learning_rate, study.learning_rate_decay)
    worker = POPULATION.worker(eyes.pool, rate, [rehearsal.seed % 2**32, number])
    client = Client(address)
    try:
        bot = Bot(client, worker, eyes, is_paced=rehearsal.is_paced)
        return bot.take_part(study.slug, invitation_text)
    finally:
        client.close()


def _count(rehearsal: Rehearsal, stayed: bool) -> None:
    name = "finished" if stayed else "left"
    rehearsal.report(**{name: getattr(rehearsal, name) + 1})
    # The threads of bots have connections of their own, which nobody else would close.
    connection.close()


def _forecast(rehearsal: Rehearsal, progress: Progress) -> None:
    arms = rehearsal.study.arm_names
    results: dict[str, list[dict[str, Any]]] = {arm: [] for arm in arms}
    for arm, row in forecast(rehearsal.study, rehearsal.workers, rehearsal.seed):
        results[arm].append(row)
        if arm == arms[-1]:
            rehearsal.report(finished=len(results[arm]))
            progress(rehearsal)
    rehearsal.report(results=results)


def newest_forecast(study: Study) -> Rehearsal | None:
    done = study.rehearsals.filter(kind=Rehearsal.Kind.FORECAST, state=Rehearsal.State.DONE)
    return done.first()
