"""The container files: they parse, and they say what the docs promise."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
MANY = "docker-compose.many.yml"


def dockerfile() -> list[str]:
    return (ROOT / "Dockerfile").read_text().splitlines()


def compose(name: str = "docker-compose.yml") -> dict:
    return yaml.load((ROOT / name).read_text(), Loader=yaml.SafeLoader)


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
    services = compose()["services"]
    assert services["db"]["image"].startswith("postgres:")
    assert "healthcheck" in services["db"]
    assert services["migrate"]["depends_on"]["db"]["condition"] == "service_healthy"
    waits = services["web"]["depends_on"]["migrate"]["condition"]
    assert waits == "service_completed_successfully"
    assert "restart" not in services["migrate"]
    assert set(services["web"]["environment"]) >= {"DATABASE_URL", "JEDI_DB_PASSWORD_FILE"}


# What the containers settle by themselves, or what is not for a server.
SETTLED = {
    "JEDI_DATA_DIR", "HOST", "PORT", "JEDI_BIND", "JEDI_PORT", "JEDI_EMBEDDED_WORKER", "JEDI_DEBUG",
}  # fmt: skip


def test_every_setting_of_the_environment_reaches_the_containers():
    known = re.findall(r"^#(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    services = compose()["services"]
    for name in ("web", "worker", "migrate"):
        assert set(known) - SETTLED == set(services[name]["environment"])


def test_compose_publishes_the_proxy_alone_and_on_this_machine_only_by_default():
    services = compose()["services"]
    [port] = services["proxy"]["ports"]
    assert port.startswith("${JEDI_BIND:-127.0.0.1}:")
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    for name in ("web", "worker"):
        assert services[name]["environment"]["JEDI_PROXIES"] == "${JEDI_PROXIES:-1}"
        assert services[name]["environment"]["JEDI_INTERNAL_URL"] == "http://proxy:8000"


def test_many_web_servers_share_a_cache():
    one, many = compose()["services"], compose(MANY)["services"]
    assert set(many) - set(one) == {"cache"}
    for name in ("web", "worker", "migrate"):
        assert set(many[name]["environment"]) < set(one[name]["environment"])
        assert many[name]["environment"]["JEDI_CACHE_URL"].startswith("redis://cache:")


def test_the_database_of_many_servers_takes_the_connections_of_24_processes():
    """The last line of the sizing table, with the default of JEDI_DB_POOL."""
    command = compose(MANY)["services"]["db"]["command"]
    assert int(command.rpartition("max_connections=")[2]) > 24 * 8


def test_the_proxy_gets_what_its_configuration_asks_for():
    proxy = compose()["services"]["proxy"]
    template = (ROOT / "deploy/nginx.conf.template").read_text()
    assert set(re.findall(r"\$\{(\w+)\}", template)) == {
        name for name in proxy["environment"] if name.startswith("PROXY_")
    }
    accelerated = compose()["services"]["web"]["environment"]["JEDI_ACCEL_LOCATION"]
    location = re.fullmatch(r"\$\{JEDI_ACCEL_LOCATION:-(.*)\}", accelerated)[1]
    assert f"location {location} {{\n        internal;" in template


def test_every_file_and_volume_is_there():
    services = [*compose()["services"].values(), *compose(MANY)["services"].values()]
    volumes = [
        volume.split(":")[0] for service in services for volume in service.get("volumes", [])
    ]
    files = {volume for volume in volumes if volume.startswith("./")}
    assert all((ROOT / file).is_file() for file in files)
    assert set(volumes) - files <= set(compose()["volumes"])


def test_no_password_is_written_down():
    text = "".join((ROOT / name).read_text() for name in ("docker-compose.yml", MANY, "Dockerfile"))
    assert not re.search(r"PASSWORD:\s*\S", text)
    assert not re.search(r"://[^\s/@]+:[^\s/@]+@", text)


def test_every_volume_that_is_used_is_declared():
    content = compose()
    used = {
        volume.split(":")[0]
        for service in content["services"].values()
        for volume in service.get("volumes", [])
        if not volume.startswith("./")
    }
    assert used == set(content["volumes"])
