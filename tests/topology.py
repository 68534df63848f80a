"""Several web servers and workers behind nginx and Caddy, as docker-compose.many.yml has them: the same configuration
files, but plain processes on one machine."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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
from tests.site import ROOT, HttpClient, Site, clean_environment, free_port, wait_until_ready

LOG = "log"
# Around the file that is tested: what a distribution's own nginx.conf brings along.
NGINX = """
user root;
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr notice;
events { worker_connections 1024; }
http {
    include /etc/nginx/mime.types;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    # The slow clients of a test may take longer than the usual minute.
    client_header_timeout 600s;
    client_body_timeout 600s;
    include site.conf;
}
"""


class Replica:
    """One of the web servers; it can be killed, and stopped as an upgrade stops it."""

    def __init__(self, site: Site, log: IO[str]) -> None:
        self.port = free_port()
        environment = site.environment | {"PORT": str(self.port)}
        self.site = replace(site, port=self.port, environment=environment, is_https=False)
        self.log = log

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
    """`site` is what participants see: its port is Caddy's."""

    site: Site
    replicas: Sequence[Replica]
    cache: redis.Redis
    nginx_port: int
    logs: dict[str, Path]

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
    """Two web servers of one process each behind nginx and Caddy; workers are started by whoever wants one."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(scratch("jedi-many-")))
        site = Site(free_port(), folder, database_url, clean_environment(folder), is_https=True)
        nginx_port = free_port()
        site.environment |= deployed_environment(site.port, nginx_port, database_url) | extra
        cache_url, _ = stack.enter_context(running_cache())
        site.environment["JEDI_CACHE_URL"] = cache_url
        site.prepare()
        log = stack.enter_context((folder / "servers.log").open("w+"))
        replicas = [Replica(site, log) for _ in range(2)]
        for replica in replicas:
            replica.start()
            stack.callback(replica.kill)
        ports = [replica.port for replica in replicas]
        nginx_log = stack.enter_context(running_nginx(nginx_port, ports))
        caddy_log = stack.enter_context(running_caddy(site, nginx_port))
        stack.callback(site.close)
        logs = {"gunicorn": Path(log.name), "nginx": nginx_log, "caddy": caddy_log}
        yield Topology(site, replicas, redis.Redis.from_url(cache_url), nginx_port, logs)


def deployed_environment(port: int, nginx_port: int, database_url: str) -> dict[str, str]:
    """What the compose files give to a web server, with addresses of this machine."""
    return many()["web"]["environment"] | {
        "DATABASE_URL": database_url,
        "JEDI_INTERNAL_URL": f"http://127.0.0.1:{nginx_port}",
        "JEDI_PUBLIC_URL": f"https://127.0.0.1:{port}",
        "JEDI_PROXIES": "2",
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
def running_nginx(port: int, servers: Sequence[int]) -> Iterator[Path]:
    """nginx on a port, before web servers on these; yields its log."""
    with scratch("jedi-nginx-") as folder:
        template = Template((ROOT / "deploy/nginx.conf.template").read_text())
        # As `envsubst` does it.
        filled_in = template.safe_substitute(
            PROXY_LISTEN=f"127.0.0.1:{port}",
            PROXY_SERVERS=" ".join(f"server 127.0.0.1:{server} max_fails=0;" for server in servers),
        )
        (folder / "site.conf").write_text(
            re.sub(r"/var/log/nginx/\w+\.log", "/dev/stdout", filled_in)
        )
        (folder / "nginx.conf").write_text(NGINX)
        with running([program("nginx"), "-p", folder, "-c", "nginx.conf"], folder):
            until(lambda: is_open(HttpClient(port)))
            yield folder / LOG


@contextmanager
def running_caddy(site: Site, nginx_port: int) -> Iterator[Path]:
    """Caddy on the site's port, with a certificate that it signs itself; yields its log."""
    caddyfile = ["--config", str(ROOT / "deploy/Caddyfile")]
    with scratch("jedi-caddy-") as folder:
        environment = os.environ | {
            "JEDI_PUBLIC_URL": site.environment["JEDI_PUBLIC_URL"],
            "PROXY_UPSTREAM": f"127.0.0.1:{nginx_port}",
            "XDG_DATA_HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
        }
        caddy = program("caddy")
        adapted = subprocess.check_output([caddy, "adapt", *caddyfile], env=environment)
        config = json.loads(adapted)
        # Ports of the machine that other tests may want too: the redirect from HTTP, and the admin API.
        config["apps"]["http"]["http_port"] = free_port()
        config["admin"] = {"disabled": True}
        (folder / "caddy.json").write_text(json.dumps(config))
        with running([caddy, "run", "--config", "caddy.json"], folder, environment):
            until(lambda: is_open(site.client()))
            yield folder / LOG


def is_open(client: HttpClient) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except OSError:
        return False


@contextmanager
def running(
    command: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program until the block ends; what it says is in its folder."""
    with (folder / LOG).open("w") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
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
        # A temporary folder is private; the processes of nginx are another user's if we are root.
        Path(folder).chmod(0o755)
        yield Path(folder)
