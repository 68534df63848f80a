"""Deployment settings come from the environment; a wrong one stops the start and names the remedy."""

import math
import os
import re
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SQLITE_OPTIONS = {
    # Without IMMEDIATE about half of concurrent writes fail with "database is locked".
    "transaction_mode": "IMMEDIATE",
    # Short, so that /healthz gets a thread soon even if every thread waits for the lock. Pages repeat their request.
    "timeout": 5,
    # synchronous=FULL syncs the write-ahead log at every commit: an acknowledged answer survives a loss of power.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
}
POSTGRES_OPTIONS = {
    # Statements and their values go to Postgres apart, so that it plans a statement once and not for every answer.
    "server_side_binding": True,
    # How often a connection has to see a statement before it keeps the plan.
    "prepare_threshold": 5,
}
DATABASE_REMEDY = (
    "DATABASE_URL must look like postgres://user:password@host:5432/name. Unset it to use SQLite."
)

CACHE_REMEDY = (
    "JEDI_CACHE_URL must look like redis://host:6379/0, with the number of a database at its end and only such options "
    "as redis-py knows. Unset it if there is one web server only."
)
# What rest_framework can read: it would take a month for a minute, and stumble over anything else at the first request.
RATE = re.compile(r"[0-9]+/(s|m|h|d|(sec|second|min|minute|hour|day)s?)")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str) -> bool:
    value = text(name).lower()
    if value in {"", "0", "1", "true", "false", "yes", "no"}:
        return value in {"1", "true", "yes"}
    raise ImproperlyConfigured(f"{name} is {value!r}. Set it to 1 or 0.")


def number(name: str, default: int, *, least: int = 0, most: float = math.inf) -> int:
    value = text(name, str(default))
    if value.isdecimal() and least <= int(value) <= most:
        return int(value)
    allowed = f", {least} or more" if most == math.inf else f" from {least} to {most}"
    raise ImproperlyConfigured(f"{name} is {value!r}. Set it to a whole number{allowed}.")


def port() -> int:
    return number("PORT", 8000, least=1, most=65_535)


def web_processes() -> int:
    return number("WEB_CONCURRENCY", 2, least=1)


def web_threads() -> int:
    return number("WEB_THREADS", 4, least=1)


def rate(name: str, default: str) -> str:
    value = text(name, default)
    if RATE.fullmatch(value):
        return value
    raise ImproperlyConfigured(
        f"{name} is {value!r}. Set it to a number of requests per s, min, hour or day, like {default}."
    )


def web_address(name: str, default: str) -> str:
    """Where a site is found, without the slash at its end: paths are appended to it."""
    value = text(name, default).rstrip("/")
    remedy = f"{name} is {value!r}. Set it to a whole address, like https://study.example.org."
    parts = _split(value, remedy)
    is_whole = parts.scheme in {"http", "https"} and parts.hostname
    if not is_whole or parts.query or parts.fragment:
        raise ImproperlyConfigured(remedy)
    return value


def words(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def secret_key(data_dir: Path) -> str:
    """The key from JEDI_SECRET_KEY, else from a file that is made on first use, readable by its owner only."""
    if key := text("JEDI_SECRET_KEY"):
        return key
    path = data_dir / "secret_key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        _write_new_secret(path)
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key file {path} cannot be used ({error.strerror}). Make JEDI_DATA_DIR writable, "
            "or set JEDI_SECRET_KEY to at least 50 random characters."
        ) from error


def _write_new_secret(path: Path) -> None:
    """Writes the key beside its place and links it there, so that no process ever reads half a key."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(64))
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def database(data_dir: Path) -> dict[str, Any]:
    """SQLite in the data folder, or Postgres when DATABASE_URL names one."""
    url = text("DATABASE_URL")
    if not url:
        return sqlite(sqlite_file(data_dir))
    parts = _split(url, DATABASE_REMEDY)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise ImproperlyConfigured(DATABASE_REMEDY)
    pool = {"min_size": 1, "max_size": _pool_size(), "timeout": 10}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or "") or _database_password(),
        "HOST": _host(parts),
        "PORT": str(parts.port or ""),
        "OPTIONS": {**_driver_options(parts.query), **POSTGRES_OPTIONS, "pool": pool},
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
    }


def sqlite_file(data_dir: Path) -> Path:
    return data_dir / "db.sqlite3"


def sqlite(file: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": file,
        "OPTIONS": SQLITE_OPTIONS,
        "CONN_MAX_AGE": 600,
    }


def cache() -> dict[str, Any]:
    """The memory of each process, or what all web servers share when JEDI_CACHE_URL names it."""
    url = text("JEDI_CACHE_URL")
    if not url:
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    parts = _split(url, CACHE_REMEDY)
    is_whole = parts.scheme in {"redis", "rediss"} and parts.hostname
    # redis-py would take another database than a name that it cannot read.
    if not is_whole or not re.fullmatch("(/[0-9]*)?", parts.path) or not _is_known_to_redis(url):
        raise ImproperlyConfigured(CACHE_REMEDY)
    return {"BACKEND": "jedi_web.caches.SharedCache", "LOCATION": url, "KEY_PREFIX": "jedi_web"}


def _is_known_to_redis(url: str) -> bool:
    """Whether redis-py takes every option. It would look at them when the first worker joins; here nothing connects."""
    from redis import ConnectionPool, RedisError

    try:
        ConnectionPool.from_url(url).make_connection()
    except (TypeError, ValueError, RedisError):
        return False
    return True


def location(name: str) -> str:
    """A path of the web server in front of this one, for example /files/; empty if there is none."""
    path = text(name)
    if path and not (path.startswith("/") and path.endswith("/") and path != "/"):
        raise ImproperlyConfigured(
            f"{name} is {path!r}. Set it to a path like /files/, or unset it."
        )
    return path


def _split(url: str, remedy: str) -> SplitResult:
    """The parts of an address; a bracket without its end and a port that is none are refused."""
    try:
        parts = urlsplit(url)
        has_port_0 = parts.port == 0
    except ValueError as error:
        raise ImproperlyConfigured(remedy) from error
    if has_port_0:
        raise ImproperlyConfigured(remedy)
    return parts


def _pool_size() -> int:
    """Each thread may need a connection, and so does the one that answers workers."""
    threads = web_threads()
    size = number("JEDI_DB_POOL", max(8, threads + 1))
    if size > threads:
        return size
    raise ImproperlyConfigured(
        f"JEDI_DB_POOL is {size}, which must be larger than WEB_THREADS ({threads}). Set it to {threads + 1} or more, "
        "or unset it."
    )


def _driver_options(query: str) -> dict[str, str]:
    """Parameters of the address, sslmode for example, go to the driver as they are, if it knows them."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import make_conninfo

    options = dict(parse_qsl(query, keep_blank_values=True))
    try:
        make_conninfo(**options)
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"DATABASE_URL cannot be used: {str(error).strip()}. Remove what is wrong after the question mark; "
            "?sslmode=require, for example, is right."
        ) from error
    return options


def _host(parts: SplitResult) -> str:
    """The host as it was written: the folder of a socket may have capital letters."""
    written = parts.netloc.rpartition("@")[2]
    is_socket = written.lower().startswith("%2f")
    return unquote(written.partition(":")[0] if is_socket else parts.hostname or "")


def _database_password() -> str:
    """The password from a file, for deployments that keep it out of the environment."""
    name = text("JEDI_DB_PASSWORD_FILE")
    try:
        return Path(name).read_text().strip() if name else ""
    except OSError as error:
        raise ImproperlyConfigured(
            f"JEDI_DB_PASSWORD_FILE names {name}, which cannot be read ({error.strerror}). "
            "Correct the path, or put the password into DATABASE_URL."
        ) from error
