"""The container files: they parse, and they say what the docs promise."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def dockerfile() -> list[str]:
    return (ROOT / "Dockerfile").read_text().splitlines()


def compose() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


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


def test_compose_publishes_the_server_on_this_machine_only_by_default():
    [port] = compose()["services"]["web"]["ports"]
    assert port.startswith("${JEDI_BIND:-127.0.0.1}:")


def test_no_password_is_written_down():
    text = (ROOT / "docker-compose.yml").read_text() + (ROOT / "Dockerfile").read_text()
    assert not re.search(r"PASSWORD:\s*\S", text)
    assert not re.search(r"://[^\s/@]+:[^\s/@]+@", text)


def test_every_volume_that_is_used_is_declared():
    content = compose()
    used = {
        volume.split(":")[0]
        for service in content["services"].values()
        for volume in service.get("volumes", [])
    }
    assert used == set(content["volumes"])
