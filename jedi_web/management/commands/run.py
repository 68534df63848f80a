"""`make run`: the whole site on one machine."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from jedi_web import environment
from jobs.processes import STOP_WITH_STDIN

PREPARE = [sys.executable, "manage.py", "prepare"]
WEB_SERVER = [sys.executable, "-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"]
WORKER = [sys.executable, "manage.py", "work"]
# An earlier server may be about to end.
PORT_WAIT_SECONDS = 5.0
POLL_SECONDS = 0.25
# A worker that dies at its start is restarted after pauses that double.
MIN_PAUSE, MAX_PAUSE = 0.5, 30.0
HEALTHY_SECONDS = 60.0
# gunicorn and the worker end by themselves within 30 seconds of SIGTERM.
STOP_SECONDS = 35.0


class Command(BaseCommand):
    help = "Prepares the site, then runs the web server and the background worker until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="leave the demo study out")

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_taken_port(environment.text("HOST", "127.0.0.1"), environment.port())
        # In a process of its own, because its memory is not needed afterwards.
        prepared = subprocess.run(  # noqa: S603 - our own command
            PREPARE + ["--no-demo"] * options["no_demo"], cwd=settings.BASE_DIR
        )
        if prepared.returncode:
            sys.exit(prepared.returncode)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.default_int_handler)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        try:
            web_server = self.start("web server", WEB_SERVER)
            self.keep_worker_running(web_server)
        except KeyboardInterrupt:
            return
        finally:
            self.stop()
        raise CommandError("The web server ended. Its log says why.")

    def start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        process = self.processes[name] = subprocess.Popen(  # noqa: S603 - our own command
            command,
            cwd=settings.BASE_DIR,
            env=os.environ | {STOP_WITH_STDIN: "1"},
            # Closed by the kernel if this process is killed: then the children stop too.
            stdin=subprocess.PIPE,
            # Ctrl-C must not reach them: gunicorn would drop the requests that it has begun.
            process_group=0,
        )
        return process

    def keep_worker_running(self, web_server: subprocess.Popen[bytes]) -> None:
        """Return when the web server has ended."""
        pause = MIN_PAUSE
        while web_server.poll() is None:
            worker, started = self.start("worker", WORKER), time.monotonic()
            while web_server.poll() is None and worker.poll() is None:
                time.sleep(POLL_SECONDS)
            if worker.poll() is not None and web_server.poll() is None:
                if time.monotonic() - started > HEALTHY_SECONDS:
                    pause = MIN_PAUSE
                self.stderr.write(
                    f"The background worker ended ({worker.returncode}). It is restarted in {pause:g} s."
                )
                resume_at = time.monotonic() + pause
                while web_server.poll() is None and time.monotonic() < resume_at:
                    time.sleep(POLL_SECONDS)
                pause = min(2 * pause, MAX_PAUSE)

    def stop(self) -> None:
        """End both processes; a second Ctrl-C ends them at once."""
        for process in self.processes.values():
            process.terminate()
        try:
            deadline = time.monotonic() + STOP_SECONDS
            for process in self.processes.values():
                process.wait(max(0, deadline - time.monotonic()))
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            for process in self.processes.values():
                process.kill()
                process.wait()


def refuse_taken_port(host: str, port: int) -> None:
    """Wait for an earlier server to end, and raise if it does not."""
    deadline = time.monotonic() + PORT_WAIT_SECONDS
    while is_taken(host, port):
        if time.monotonic() >= deadline:
            raise CommandError(
                f"PORT {port} is taken by another program. Stop that, or choose another: PORT=9000 make run"
            )
        time.sleep(0.2)


def is_taken(host: str, port: int) -> bool:
    """gunicorn reports any other trouble with an address."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False
