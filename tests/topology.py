"""Several web servers and workers behind nginx, as docker-compose.many.yml has them: the same configuration files, but
plain processes on one machine."""

import grp
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import IO

import redis
import yaml

from tests.jobs.real import start_worker
from tests.processes import children_of, until
from tests.scratch import scratch_folder
from tests.site import ROOT, Site, clean_environment, free_port, wait_until_ready

LOG = "log"
# Around the file that is tested: what a distribution's own nginx.conf brings along.
NGINX = """
{user}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr alert;
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include site.conf;
}}
"""


class Replica:
    """One of the web servers; it can be killed, and stopped as an upgrade stops it."""

    def __init__(self, site: Site, log: IO[str]) -> None:
        self.port = free_port()
        environment = site.environment | {"PORT": str(self.port)}
        self.site, self.log = replace(site, port=self.port, environment=environment), log

    def start(self, **environment: str) -> None:
        self.site.environment |= environment
        self.server = self.site.start_server(self.log)
        wait_until_ready(self.site, self.server, self.log)

    def stop(self) -> None:
        """Answers what it has begun, and nothing else."""
        self.server.terminate()
        self.server.wait(60)

    def kill(self) -> None:
        for pid in (self.server.pid, *children_of(self.server.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.server.wait(60)


@dataclass
class Topology:
    """`site` is what workers see: its port is the proxy's."""

    site: Site
    replicas: Sequence[Replica]
    cache: redis.Redis
    proxy: subprocess.Popen[bytes]
    proxy_log: Path

    def start_worker(self) -> subprocess.Popen[bytes]:
        return start_worker(self.site)

    def upgrade(self, settings: str) -> None:
        """Migrates while everybody works, then restarts one web server after the other."""
        self.site.environment["DJANGO_SETTINGS_MODULE"] = settings
        self.site.python("manage.py", "prepare", "--no-demo")
        for replica in self.replicas:
            replica.stop()
            replica.start(DJANGO_SETTINGS_MODULE=settings)


@contextmanager
def running_topology(database_url: str, **extra: str) -> Iterator[Topology]:
    """Two web servers of one process each behind a proxy; workers are started by whoever wants one."""
    with ExitStack() as stack:
        # As in a container: nginx is another user, and has to read what the others write.
        stack.callback(os.umask, os.umask(0o022))
        folder = Path(stack.enter_context(scratch("jedi-many-")))
        site = Site(free_port(), folder, database_url, clean_environment(folder))
        site.environment |= deployed_environment(site.port, database_url) | extra
        cache_url, _ = stack.enter_context(running_cache())
        site.environment["JEDI_CACHE_URL"] = cache_url
        site.prepare()
        log = stack.enter_context((folder / "servers.log").open("w+"))
        replicas = [Replica(site, log) for _ in range(2)]
        for replica in replicas:
            replica.start()
            stack.callback(replica.kill)
        proxy, proxy_log = stack.enter_context(running_proxy(site, [one.port for one in replicas]))
        stack.callback(site.close)
        yield Topology(site, replicas, redis.Redis.from_url(cache_url), proxy, proxy_log)


def deployed_environment(port: int, database_url: str) -> dict[str, str]:
    """What docker-compose.many.yml gives to a web server, with addresses of this machine."""
    return many()["web"]["environment"] | {
        "JEDI_ACCEL_LOCATION": "/files/",
        "DATABASE_URL": database_url,
        "JEDI_INTERNAL_URL": f"http://127.0.0.1:{port}",
        "JEDI_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "JEDI_PROXIES": "1",
        "HOST": "127.0.0.1",
        "WEB_CONCURRENCY": "1",
        "WEB_THREADS": "8",
    }


def many() -> dict:
    """The services of the second compose file."""
    return yaml.load((ROOT / "docker-compose.many.yml").read_text(), yaml.SafeLoader)["services"]


@contextmanager
def running_cache() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Valkey, or Redis where a distribution has no Valkey: its address and its process."""
    port = free_port()
    command = [program("valkey-server", "redis-server"), ROOT / "deploy/valkey.conf"]
    with (
        scratch("jedi-cache-") as folder,
        running([*command, "--port", port, "--bind", "127.0.0.1"], folder) as process,
    ):
        url = f"redis://127.0.0.1:{port}/0"
        until(lambda: answers(redis.Redis.from_url(url)))
        yield url, process


def answers(cache: redis.Redis) -> bool:
    try:
        return bool(cache.ping())
    except redis.ConnectionError:
        return False


@contextmanager
def running_proxy(
    site: Site, ports: Sequence[int]
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """nginx on the site's port, before web servers on these; and its log."""
    with scratch("jedi-proxy-") as folder:
        (folder / "nginx.conf").write_text(NGINX.format(user=unprivileged_user()))
        (folder / "site.conf").write_text(filled_in(site, ports))
        with running([program("nginx"), "-p", folder, "-c", "nginx.conf"], folder) as process:
            until(lambda: is_open(site))
            yield process, folder / LOG


def unprivileged_user() -> str:
    """Its container's nginx is not the user who writes the files, and neither is this one, if it may be another."""
    if os.geteuid() != 0:
        return ""
    nobody = pwd.getpwnam("nobody")
    return f"user {nobody.pw_name} {grp.getgrgid(nobody.pw_gid).gr_name};"


def filled_in(site: Site, ports: Sequence[int]) -> str:
    """As `envsubst` does it."""
    template = Template((ROOT / "deploy/nginx.conf.template").read_text())
    return template.safe_substitute(
        PROXY_LISTEN=f"127.0.0.1:{site.port}",
        PROXY_DATA_DIR=site.data_dir,
        PROXY_SERVERS=" ".join(f"server 127.0.0.1:{port} max_fails=0;" for port in ports),
    )


def is_open(site: Site) -> bool:
    try:
        return site.client().get("/healthz").status_code == 200
    except OSError:
        return False


@contextmanager
def running(command: Sequence[object], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program until the block ends; what it says is in its folder."""
    with (folder / LOG).open("w") as output:
        process = subprocess.Popen(
            [str(part) for part in command], cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def program(*names: str) -> str:
    """The first of these that is installed; Debian keeps servers where not every user looks."""
    paths = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
    for name in names:
        if found := shutil.which(name, path=paths):
            return found
    raise RuntimeError(f"Install {' or '.join(names)} (make faults does it as root).")


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=prefix, dir=scratch_folder()) as folder:
        # A temporary folder is private; nginx is another user.
        Path(folder).chmod(0o755)
        yield Path(folder)
