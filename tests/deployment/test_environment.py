"""Deployment settings: from the environment, checked at the start, with the remedy in the message."""

import json
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from rest_framework.throttling import SimpleRateThrottle

from jedi_web import environment
from tests.site import at_once, clean_environment, free_port

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {"JEDI_PUBLIC_URL": "https://study.example.org", "JEDI_PROXIES": "1"}


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=clean_environment(folder) | variables,
        capture_output=True,
        text=True,
    )


def manage(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "manage.py", *arguments, **variables)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (PRODUCTION, []),
        (PRODUCTION | {"JEDI_HSTS_SECONDS": "3600"}, []),
        # Cookies that are sent over plain HTTP.
        ({}, ["security.W012", "security.W016"]),
        (PRODUCTION | {"JEDI_DEBUG": "1"}, ["security.W018"]),
        (PRODUCTION | {"JEDI_PROXIES": "0"}, ["jedi_web.W004"]),
        # The three that were needed with HTTPS before.
        (
            PRODUCTION
            | {
                "JEDI_HTTPS": "1",
                "JEDI_ALLOWED_HOSTS": "study.example.org,127.0.0.1",
                "JEDI_CSRF_TRUSTED_ORIGINS": "https://study.example.org",
            },
            ["jedi_web.W002"] * 3,
        ),
        (PRODUCTION | {"JEDI_HTTPS": "0", "JEDI_METRICS_TOKEN": ""}, []),
        (PRODUCTION | {"JEDI_METRICS_TOKEN": "a"}, ["jedi_web.W002"]),
        (PRODUCTION | {"JEDI_BACKUP_HOST": "nas"}, ["jedi_web.W003"]),
    ],
)
def test_the_deployment_check_reports_what_is_insecure_or_without_effect(
    tmp_path, variables, expected
):
    checked = manage(tmp_path, "check", "--deploy", **variables)
    assert checked.returncode == 0, checked.stderr
    assert sorted(re.findall(r"\((\w+\.W\d+)\)", checked.stderr)) == expected


SETTINGS_OF_ADDRESSES = """
import json
from jedi_web import settings
names = ("JEDI_PUBLIC_URL", "JEDI_INTERNAL_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SESSION_COOKIE_SECURE",
         "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS")
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


def settings_of(folder: Path, **variables: str) -> dict:
    return json.loads(python(folder, "-c", SETTINGS_OF_ADDRESSES, **variables).stdout)


def test_the_public_address_decides_hosts_origins_and_secure_cookies(tmp_path):
    read = settings_of(
        tmp_path,
        JEDI_PUBLIC_URL="https://study.example.org/, https://[2001:db8::1]:8443/lab",
        JEDI_INTERNAL_URL="http://proxy:8000",
    )
    assert read == {
        "JEDI_PUBLIC_URL": "https://study.example.org",
        "JEDI_INTERNAL_URL": "http://proxy:8000",
        "ALLOWED_HOSTS": [
            "127.0.0.1", "localhost", "[::1]", "study.example.org", "[2001:db8::1]", "proxy",
        ],
        "CSRF_TRUSTED_ORIGINS": ["https://study.example.org", "https://[2001:db8::1]:8443"],
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_HSTS_SECONDS": 0,
    }  # fmt: skip


def test_without_a_public_address_the_site_is_on_this_computer(tmp_path):
    read = settings_of(tmp_path, PORT="9000")
    assert read["JEDI_PUBLIC_URL"] == read["JEDI_INTERNAL_URL"] == "http://127.0.0.1:9000"
    assert not read["SESSION_COOKIE_SECURE"]


def test_a_request_for_another_host_is_refused(client):
    assert client.get("/", headers={"host": "127.0.0.1"}).status_code == 200
    assert client.get("/", headers={"host": "other.example.org"}).status_code == 400


def test_the_models_and_the_migrations_agree(tmp_path):
    checked = manage(tmp_path, "makemigrations", "--check", "--dry-run")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("JEDI_DEBUG", "maybe", "JEDI_DEBUG is 'maybe'. Set it to 1 or 0."),
        ("JEDI_PROXIES", "-1", "Set it to a whole number, 0 or more."),
        ("DATABASE_URL", "mysql://user@host/name", "must look like postgres://user:password@host:5432/name"),
        ("DATABASE_URL", "postgres://user@host", "Unset it to use SQLite"),
        ("DATABASE_URL", "postgres://user@host:many/name", "must look like postgres://"),
        ("DATABASE_URL", "postgres://user:password@[::1/name", "must look like postgres://"),
        ("DATABASE_URL", "postgres://user@host:99999/name", "must look like postgres://"),
        ("DATABASE_URL", "postgres://user:pass@word@host/name", "with special characters %-encoded"),
        ("DATABASE_URL", "postgres://user@host/name?nosuch=1", 'URI query parameter: "nosuch". Correct what'),
        ("DATABASE_URL", "postgres://user@host/name?nosuch", 'URI query parameter: "nosuch"'),
        ("JEDI_CACHE_URL", "memcached://host", "must look like redis://host:6379/0"),
        ("JEDI_CACHE_URL", "redis://[::1/0", "must look like redis://host:6379/0"),
        ("JEDI_CACHE_URL", "redis://host:many/0", "must look like redis://host:6379/0"),
        ("JEDI_CACHE_URL", "redis://host:99999/0", "must look like redis://host:6379/0"),
        ("JEDI_CACHE_URL", "redis://host:0/0", "must look like redis://host:6379/0"),
        ("JEDI_CACHE_URL", "redis://host:6379/name", "with the number of a database at its end"),
        ("JEDI_CACHE_URL", "redis://host:6379/0?nosuch=1", "only options that redis-py knows"),
        ("JEDI_CACHE_URL", "redis://host:6379/0?socket_timeout=long", "only options that redis-py knows"),
        ("JEDI_JOIN_RATE", "abc", "JEDI_JOIN_RATE is 'abc'. Set it to a number of requests per s, min, hour or day"),
        ("JEDI_JOIN_RATE", "5/fortnight", "like 240/min."),
        ("JEDI_JOIN_RATE", "5/month", "like 240/min."),
        ("JEDI_JOIN_RATE", "-5/min", "like 240/min."),
        ("JEDI_PUBLIC_URL", "study.example.org", "Set it to a complete address, like https://study.example.org."),
        ("JEDI_PUBLIC_URL", "study.example.org:8000", "Set it to a complete address"),
        ("JEDI_PUBLIC_URL", "ftp://study.example.org", "Set it to a complete address"),
        ("JEDI_PUBLIC_URL", "https://[study.example.org", "Set it to a complete address"),
        ("JEDI_PUBLIC_URL", "https://study.example.org/?a=b", "Set it to a complete address"),
        ("JEDI_PUBLIC_URL", "https://a.example.org,study", "JEDI_PUBLIC_URL is 'study'. Set it to a complete address"),
        ("JEDI_PUBLIC_URL", "https://a.example.org,http://b.example.org", "addresses that all begin with https://"),
        ("JEDI_INTERNAL_URL", "http://a,http://b", "Set it to one address."),
        ("PORT", "99999", "PORT is '99999'. Set it to a whole number from 1 to 65535."),
        ("PORT", "0", "Set it to a whole number from 1 to 65535."),
        ("WEB_CONCURRENCY", "two", "WEB_CONCURRENCY is 'two'. Set it to a whole number, 1 or more."),
        ("WEB_THREADS", "0", "WEB_THREADS is '0'. Set it to a whole number, 1 or more."),
    ],
)  # fmt: skip
def test_a_wrong_setting_stops_the_start_and_names_the_remedy(
    monkeypatch, tmp_path, name, value, remedy
):
    monkeypatch.setenv(name, value)
    read = {
        "JEDI_DEBUG": lambda: environment.flag("JEDI_DEBUG"),
        "JEDI_PROXIES": lambda: environment.number("JEDI_PROXIES", 0),
        "DATABASE_URL": lambda: environment.database(tmp_path),
        "JEDI_CACHE_URL": environment.cache,
        "JEDI_JOIN_RATE": lambda: environment.rate("JEDI_JOIN_RATE", "240/min"),
        "JEDI_PUBLIC_URL": lambda: environment.web_addresses("JEDI_PUBLIC_URL", "http://127.0.0.1"),
        "JEDI_INTERNAL_URL": lambda: environment.web_address(
            "JEDI_INTERNAL_URL", "http://127.0.0.1"
        ),
        "PORT": environment.port,
        "WEB_CONCURRENCY": environment.web_processes,
        "WEB_THREADS": environment.web_threads,
    }
    with pytest.raises(ImproperlyConfigured, match=re.escape(remedy)):
        read[name]()


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("DATABASE_URL", "oracle://somewhere", f"{environment.DATABASE_REMEDY}\n"),
        ("JEDI_API_RATE", "many", "JEDI_API_RATE is 'many'. Set it to a number of requests per s, min, hour or day, "
         "like 300/min.\n"),
        ("JEDI_INTERNAL_URL", "web:8000", "JEDI_INTERNAL_URL is 'web:8000'. Set it to a complete address, like "
         "https://study.example.org.\n"),
        ("JEDI_PUBLC_URL", "https://a.example.org", "JEDI_PUBLC_URL is not a setting. Did you mean JEDI_PUBLIC_URL?\n"),
        ("JEDI_HTTPS", "1", "JEDI_HTTPS was removed. Unset it and let JEDI_PUBLIC_URL begin with https:// instead.\n"),
        ("JEDI_ALLOWED_HOSTS", "study.example.org", "JEDI_ALLOWED_HOSTS was removed. Unset it and add the address of "
         "study.example.org to JEDI_PUBLIC_URL, after a comma.\n"),
        ("JEDI_CSRF_TRUSTED_ORIGINS", "https://a.example.org", "JEDI_CSRF_TRUSTED_ORIGINS was removed. Unset it and "
         "add the address of https://a.example.org to JEDI_PUBLIC_URL, after a comma.\n"),
        # gunicorn would read it before it reads our configuration.
        ("WEB_CONCURRENCY", "two", "WEB_CONCURRENCY is 'two'. Set it to a whole number, 1 or more.\n"),
    ],
)  # fmt: skip
def test_a_command_with_a_wrong_setting_says_the_remedy_and_nothing_else(
    tmp_path, name, value, remedy
):
    stopped = manage(tmp_path, "check", **{name: value})
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (1, "", remedy)


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("JEDI_CACHE_URL", "foo", environment.CACHE_REMEDY),
        ("WEB_THREADS", "none", "WEB_THREADS is 'none'. Set it to a whole number, 1 or more."),
    ],
)
def test_a_web_server_with_a_wrong_setting_says_the_remedy_and_nothing_else(
    tmp_path, name, value, remedy
):
    stopped = subprocess.run(
        [sys.executable, "-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"],
        cwd=ROOT,
        env=clean_environment(tmp_path) | {"PORT": str(free_port()), name: value},
        capture_output=True,
        text=True,
    )
    assert (stopped.returncode, stopped.stderr) == (1, f"{remedy}\n")


@pytest.mark.parametrize("value", ["0/min", "5/s", "240/m", "100/hour", "7/days", "1000000/min"])
def test_a_rate_is_taken_as_rest_framework_reads_it(monkeypatch, value):
    monkeypatch.setenv("JEDI_JOIN_RATE", value)
    assert environment.rate("JEDI_JOIN_RATE", "240/min") == value
    assert SimpleRateThrottle.parse_rate(None, value)[0] == int(value.partition("/")[0])


@pytest.mark.parametrize(
    "value",
    [
        "redis://host",
        "redis://host/",
        "redis://[::1]:6379/1",
        "rediss://:secret@host:6380/2?ssl_cert_reqs=none",
        "redis://host:6379?db=3&socket_timeout=2",
    ],
)
def test_every_form_of_a_cache_that_redis_knows_is_taken_as_it_is(monkeypatch, value):
    monkeypatch.setenv("JEDI_CACHE_URL", value)
    assert environment.cache()["LOCATION"] == value


@pytest.mark.parametrize(
    "value", ["https://study.example.org", "http://web:8000", "http://[::1]:8000", "https://a.b/c"]
)
def test_an_address_has_no_slash_at_its_end(monkeypatch, value):
    monkeypatch.setenv("JEDI_PUBLIC_URL", f"{value}/")
    assert environment.web_address("JEDI_PUBLIC_URL", "http://127.0.0.1:8000") == value


@pytest.mark.parametrize(
    ("threads", "pool", "size"), [("", "", 8), ("16", "", 17), ("4", "5", 5), ("2", "3", 3)]
)
def test_a_process_has_more_connections_than_threads(monkeypatch, tmp_path, threads, pool, size):
    monkeypatch.setenv("DATABASE_URL", "postgres://jedi@db/name")
    monkeypatch.setenv("WEB_THREADS", threads)
    monkeypatch.setenv("JEDI_DB_POOL", pool)
    assert environment.database(tmp_path)["OPTIONS"]["pool"]["max_size"] == size


@pytest.mark.parametrize("pool", ["0", "4"])
def test_a_pool_with_too_few_connections_for_the_threads_is_refused(monkeypatch, tmp_path, pool):
    monkeypatch.setenv("JEDI_DB_POOL", pool)
    monkeypatch.setenv("WEB_THREADS", "4")
    monkeypatch.setenv("DATABASE_URL", "")
    assert "pool" not in environment.database(tmp_path)["OPTIONS"]
    monkeypatch.setenv("DATABASE_URL", "postgres://jedi@db/name")
    with pytest.raises(ImproperlyConfigured, match=r"WEB_THREADS \(4\). Set it to 5 or more"):
        environment.database(tmp_path)


def test_sqlite_is_the_default_and_safe_for_many_writers(monkeypatch, tmp_path):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    settings = environment.database(tmp_path)
    assert settings["NAME"] == tmp_path / "db.sqlite3"
    assert settings["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in settings["OPTIONS"]["init_command"]


def test_postgres_is_one_variable(monkeypatch, tmp_path):
    monkeypatch.setenv(
        "DATABASE_URL", "postgres://jedi:p%40ss%2Fword@db.example.org:5433/my%20study"
    )
    settings = environment.database(tmp_path)
    assert settings["ENGINE"] == "django.db.backends.postgresql"
    assert (settings["USER"], settings["PASSWORD"]) == ("jedi", "p@ss/word")
    assert (settings["HOST"], settings["PORT"]) == ("db.example.org", "5433")
    assert settings["NAME"] == "my study"
    assert "pool" in settings["OPTIONS"]


def test_parameters_of_the_database_address_are_not_dropped(monkeypatch, tmp_path):
    """Somebody who writes sslmode=require must not get an open connection instead."""
    monkeypatch.setenv("DATABASE_URL", "postgres://jedi@db/name?sslmode=require&connect_timeout=5")
    options = environment.database(tmp_path)["OPTIONS"]
    assert options["sslmode"] == "require"
    assert options["connect_timeout"] == "5"


def test_the_folder_of_a_socket_keeps_its_capital_letters(monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://jedi@%2Fsrv%2FPostgres/name")
    assert environment.database(tmp_path)["HOST"] == "/srv/Postgres"


def test_the_database_password_can_come_from_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://jedi@db/jedi")
    (tmp_path / "password").write_text("drawn at random\n")
    monkeypatch.setenv("JEDI_DB_PASSWORD_FILE", str(tmp_path / "password"))
    assert environment.database(tmp_path)["PASSWORD"] == "drawn at random"
    monkeypatch.setenv("JEDI_DB_PASSWORD_FILE", str(tmp_path / "nothing"))
    with pytest.raises(ImproperlyConfigured, match="Correct the path"):
        environment.database(tmp_path)


@pytest.fixture
def no_key(monkeypatch):
    monkeypatch.delenv("JEDI_SECRET_KEY", raising=False)


@pytest.mark.usefixtures("no_key")
def test_the_secret_key_file_is_made_once_and_for_its_owner_only(tmp_path):
    first = environment.secret_key(tmp_path / "data")
    file = tmp_path / "data" / "secret_key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(first) >= 50
    assert environment.secret_key(tmp_path / "data") == first
    assert [path.name for path in file.parent.iterdir()] == ["secret_key"]


@pytest.mark.usefixtures("no_key")
def test_processes_that_start_together_agree_on_one_key(tmp_path):
    keys = at_once([lambda: environment.secret_key(tmp_path / "data")] * 24)
    assert len(set(keys)) == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret_key"]


@pytest.mark.usefixtures("no_key")
def test_a_key_that_cannot_be_written_names_the_remedy(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ImproperlyConfigured, match="set JEDI_SECRET_KEY"):
        environment.secret_key(tmp_path / "file")


def test_every_setting_is_explained_and_none_that_was_removed():
    explained = set(re.findall(r"^#(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert {name for name in explained if name.startswith("JEDI_")} == environment.SETTINGS
    read = set()
    for path in [*(ROOT / "jedi_web").glob("*.py"), ROOT / "docker-compose.yml"]:
        read |= set(re.findall(r"\b(?:JEDI_[A-Z_]+|DATABASE_URL|WEB_[A-Z]+)\b", path.read_text()))
    of_django = {"JEDI_STAGES", "JEDI_SHARES_CACHE"}
    assert read - of_django - environment.REMOVED_SETTINGS.keys() <= explained
    assert not environment.REMOVED_SETTINGS.keys() & explained


def test_nothing_secret_is_committed():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    names = set(listed.split())
    assert not {
        name for name in names if re.search(r"(^|/)(\.env|secret_key|.*\.sqlite3|.*\.pem)$", name)
    }
    assert not re.search(r"SECRET_KEY\s*=\s*[\"']", (ROOT / "jedi_web" / "settings.py").read_text())
