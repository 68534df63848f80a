"""The container files: they parse, and they say what the docs promise."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
MANY = "docker-compose.many.yml"


def dockerfile() -> list[str]:
    return (ROOT / "Dockerfile").read_text().splitlines()


def compose(name: str = "docker-compose.yml") -> dict:
    return yaml.load((ROOT / name).read_text(), Loader=yaml.SafeLoader)


def services() -> dict:
    return compose()["services"]


# Of what is in the image.
OURS = ("web", "worker", "daily", "migrate")


def test_the_image_runs_as_nobody_special_and_checks_its_health():
    lines = dockerfile()
    users = [line for line in lines if line.startswith("USER ")]
    assert users[-1] != "USER root"
    assert lines.index(users[-1]) < next(
        i for i, line in enumerate(lines) if line.startswith("CMD")
    )
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert any("/healthz" in line for line in lines)


def test_the_image_installs_only_pinned_requirements():
    assert any("--require-hashes -r requirements.txt" in line for line in dockerfile())


def test_the_data_of_a_developer_stays_out_of_the_image():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".env", "var", ".venv"} <= set(ignored)


def test_compose_has_postgres_one_migration_and_the_web_server():
    db, migrate = services()["db"], services()["migrate"]
    assert db["image"].startswith("postgres:")
    assert "healthcheck" in db
    assert migrate["depends_on"]["db"]["condition"] == "service_healthy"
    assert "restart" not in migrate
    for name in ("web", "worker", "daily"):
        waits = services()[name]["depends_on"]["migrate"]["condition"]
        assert waits == "service_completed_successfully"
        assert services()[name]["restart"] == "unless-stopped"


# What the containers settle by themselves, or what is not for a server.
SETTLED = {
    "JEDI_DATA_DIR", "HOST", "PORT", "JEDI_BIND", "JEDI_PORT", "JEDI_DEBUG",
}  # fmt: skip
OF_DAILY_TASKS = {"KEEP_BACKUPS", "PURGE_DAYS"}


def test_every_setting_of_the_environment_reaches_the_containers():
    known = set(re.findall(r"^#(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    for name in ("web", "worker", "migrate"):
        assert known - SETTLED - OF_DAILY_TASKS == set(services()[name]["environment"])
    assert known - SETTLED == set(services()["daily"]["environment"])


def test_no_compose_file_starts_without_a_public_address():
    """https:// is no default: without an address, links in emails and on the desk would lead nowhere."""
    for name in (*OURS, "https"):
        assert services()[name]["environment"]["JEDI_PUBLIC_URL"].startswith("${JEDI_PUBLIC_URL:?")


def test_only_https_is_open_to_the_internet_and_the_proxy_to_this_machine():
    ports = {name: service["ports"] for name, service in services().items() if "ports" in service}
    assert ports.keys() == {"proxy", "https"}
    assert ports["https"] == ["80:80", "443:443"]
    [port] = ports["proxy"]
    assert port.startswith("${JEDI_BIND:-127.0.0.1}:")


def test_the_web_server_knows_of_both_servers_in_front_of_it():
    for name in OURS:
        environment = services()[name]["environment"]
        assert environment["JEDI_PROXIES"] == "${JEDI_PROXIES:-2}"
        assert environment["JEDI_INTERNAL_URL"] == "http://proxy:8000"
    assert services()["https"]["environment"]["PROXY_UPSTREAM"] == "proxy:8000"


def test_commands_of_the_services_are_ours():
    known = get_commands()
    commands = [
        command
        for name in OURS
        for command in re.findall(r"manage\.py (\w+)", services()[name].get("command", ""))
    ]
    assert commands == ["work", "backup", "expire_sessions", "purge", "prepare"]
    assert set(commands) <= known.keys()


def test_daily_tasks_run_in_a_shell(tmp_path):
    """The loop once, with the real shell: which commands it starts, with and without a time limit."""
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@" >> calls\n')
    (tmp_path / "sleep").write_text("#!/bin/sh\nkill $PPID\n")
    for program in ("python", "sleep"):
        (tmp_path / program).chmod(0o755)
    command = shlex.split(services()["daily"]["command"].replace("$$", "$"))
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    for days in ("", "365"):
        environment = {"PATH": path, "KEEP_BACKUPS": "14", "PURGE_DAYS": days}
        subprocess.run(command, cwd=tmp_path, env=environment, timeout=60)
    daily = ["manage.py backup /backups --keep 14", "manage.py expire_sessions"]
    purge = "manage.py purge --older-than 365"
    assert (tmp_path / "calls").read_text().splitlines() == [*daily, *daily, purge]


def test_a_worker_gets_longer_than_the_usual_ten_seconds_to_end():
    assert services()["worker"]["stop_grace_period"] == "30s"
    assert services()["web"]["stop_grace_period"] == "40s"


def test_many_web_servers_share_a_cache():
    many = compose(MANY)["services"]
    assert set(many) - set(services()) == {"cache"}
    for name in OURS:
        assert set(many[name]["environment"]) < set(services()[name]["environment"])
        assert many[name]["environment"]["JEDI_CACHE_URL"].startswith("redis://cache:")


def test_the_database_of_many_servers_takes_the_connections_of_24_processes():
    """The last line of the sizing table, with the default of JEDI_DB_POOL."""
    command = compose(MANY)["services"]["db"]["command"]
    assert int(command.rpartition("max_connections=")[2]) > 24 * 8


def test_the_proxies_get_what_their_configuration_asks_for():
    template = (ROOT / "deploy/nginx.conf.template").read_text()
    assert set(re.findall(r"\$\{(\w+)\}", template)) == {
        name for name in services()["proxy"]["environment"] if name.startswith("PROXY_")
    }
    caddyfile = (ROOT / "deploy/Caddyfile").read_text()
    assert set(re.findall(r"\{\$(\w+)\}", caddyfile)) == set(services()["https"]["environment"])


def test_every_file_and_volume_is_there():
    every = [*services().values(), *compose(MANY)["services"].values()]
    volumes = [volume.split(":")[0] for service in every for volume in service.get("volumes", [])]
    files = {volume for volume in volumes if volume.startswith("./")}
    assert all((ROOT / file).is_file() for file in files)
    assert set(volumes) - files == set(compose()["volumes"])


def test_folders_that_the_image_writes_to_belong_to_its_user():
    """A new volume gets the owner of the folder in the image."""
    text = (ROOT / "Dockerfile").read_text()
    for folder in ("/data", "/backups"):
        assert re.search(rf"mkdir .*{folder}\b.*chown jedi .*{folder}\b", text)


def test_no_password_is_written_down():
    text = "".join((ROOT / name).read_text() for name in ("docker-compose.yml", MANY, "Dockerfile"))
    assert not re.search(r"PASSWORD:\s*\S", text)
    assert not re.search(r"://[^\s/@]+:[^\s/@]+@", text)
