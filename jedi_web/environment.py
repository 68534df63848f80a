"""Read the deployment settings from the environment. An invalid value stops the start with one sentence."""

import math
import os
import re
import secrets
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

SETTINGS = {
    "JEDI_API_RATE", "JEDI_BIND", "JEDI_CACHE_URL", "JEDI_DATA_DIR", "JEDI_DB_PASSWORD_FILE",
    "JEDI_DB_POOL", "JEDI_DEBUG", "JEDI_FRAME_ANCESTORS", "JEDI_HSTS_SECONDS", "JEDI_INTERNAL_URL", "JEDI_JOIN_RATE",
    "JEDI_LOG_JSON", "JEDI_PORT", "JEDI_PROXIES", "JEDI_PUBLIC_URL", "JEDI_SECRET_KEY", "JEDI_SECRET_KEY_FALLBACKS",
    "JEDI_SLOW_MS", "JEDI_WEBHOOK_PRIVATE",
}  # fmt: skip
# Settings of earlier releases, with what replaces them.
REMOVED_SETTINGS = {
    "JEDI_ACCEL_LOCATION": "The web server sends images itself; the reverse proxy needs no location for them.",
    "JEDI_ALLOWED_HOSTS": "The host names are those of JEDI_PUBLIC_URL.",
    "JEDI_CSRF_TRUSTED_ORIGINS": "The trusted origins are those of JEDI_PUBLIC_URL.",
    "JEDI_EMBEDDED_WORKER": "manage.py run starts the background worker.",
    "JEDI_HTTPS": (
        "A JEDI_PUBLIC_URL with https:// turns on secure cookies, the reverse proxy redirects to HTTPS, and "
        "JEDI_HSTS_SECONDS turns on HSTS."
    ),
    "JEDI_METRICS_TOKEN": "There are no Prometheus metrics any more.",
}

SQLITE_OPTIONS = {
    # Without IMMEDIATE about half of concurrent writes fail with "database is locked".
    "transaction_mode": "IMMEDIATE",
    # Short, so that /healthz gets a thread soon even if every thread waits for the lock. Pages repeat their request.
    "timeout": 5,
    # synchronous=FULL syncs the write-ahead log at every commit: an acknowledged answer survives a power failure.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
}
POSTGRES_OPTIONS = {
    # Prepared statements: Postgres plans a statement once per connection.
    "server_side_binding": True,
    "prepare_threshold": 5,
}
DATABASE_REMEDY = (
    "DATABASE_URL must look like postgres://user:password@host:5432/name, with special characters %-encoded. "
    "Unset it to use SQLite."
)
CACHE_REMEDY = (
    "JEDI_CACHE_URL must look like redis://host:6379/0, with the number of a database at its end and only options that "
    "redis-py knows. Unset it if there is only one web server."
)


def invalid(name: str, value: object, remedy: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name} is {value!r}. Set it to {remedy}.")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def items(name: str) -> list[str]:
    """The parts of a comma-separated value."""
    return [item.strip() for item in text(name).split(",") if item.strip()]


def flag(name: str) -> bool:
    value = text(name, "0").lower()
    if value in {"0", "1", "true", "false", "yes", "no"}:
        return value in {"1", "true", "yes"}
    raise invalid(name, value, "1 or 0")


def number(name: str, default: int, *, minimum: int = 0, maximum: float = math.inf) -> int:
    value = text(name, str(default))
    if value.isdecimal() and minimum <= int(value) <= maximum:
        return int(value)
    range_ = f", {minimum} or more" if maximum == math.inf else f" from {minimum} to {maximum}"
    raise invalid(name, value, f"a whole number{range_}")


def port() -> int:
    return number("PORT", 8000, minimum=1, maximum=65_535)


def web_processes() -> int:
    return number("WEB_CONCURRENCY", 2, minimum=1)


def web_threads() -> int:
    return number("WEB_THREADS", 4, minimum=1)


def rate(name: str, default: str) -> str:
    """A rate limit of rest_framework, which accepts any word that begins like a unit: a month would be a minute."""
    value = text(name, default)
    if re.fullmatch(r"[0-9]+/(s|m|h|d|(sec|second|min|minute|hour|day)s?)", value):
        return value
    raise invalid(name, value, f"a number of requests per s, min, hour or day, like {default}")


def web_addresses(name: str, default: str) -> list[str]:
    """Comma-separated addresses without a slash at the end, because paths are appended to them."""
    addresses = [value.rstrip("/") for value in items(name)] or [default]
    for value in addresses:
        try:
            parts = urlsplit(value)
            is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or parts.query or parts.fragment:
            raise invalid(name, value, "a complete address, like https://study.example.org")
    if len({urlsplit(value).scheme for value in addresses}) > 1:
        raise invalid(
            name, text(name), "addresses that all begin with https://, or all with http://"
        )
    return addresses


def web_address(name: str, default: str) -> str:
    addresses = web_addresses(name, default)
    if len(addresses) > 1:
        raise invalid(name, text(name), "one address")
    return addresses[0]


def host_of(address: str) -> str:
    """The host as ALLOWED_HOSTS has it: IPv6 addresses are in brackets."""
    host = urlsplit(address).hostname or ""
    return f"[{host}]" if ":" in host else host


def secret_key(data_dir: Path) -> str:
    """JEDI_SECRET_KEY, or else the content of a file that is generated on first use, readable only by its owner."""
    if key := text("JEDI_SECRET_KEY"):
        return key
    path = data_dir / "secret_key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # Write a draft and link it into place, so that no process ever reads half a key.
            draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
            with os.fdopen(
                os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
            ) as file:
                file.write(secrets.token_urlsafe(64))
            try:
                path.hardlink_to(draft)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key file {path} cannot be used ({error.strerror}). Make JEDI_DATA_DIR writable, "
            "or set JEDI_SECRET_KEY to at least 50 random characters."
        ) from error


def database(data_dir: Path) -> dict[str, Any]:
    """SQLite in the data folder, or Postgres if DATABASE_URL is set."""
    url = text("DATABASE_URL")
    if not url:
        return sqlite(sqlite_file(data_dir))
    # Every command reads this module; only those with Postgres need its driver.
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    address = url.partition("?")[0]
    if not address.startswith(("postgres://", "postgresql://")):
        raise ImproperlyConfigured(DATABASE_REMEDY)
    try:
        conninfo_to_dict(address)
    except ProgrammingError as error:
        # libpq's own message contains the password.
        raise ImproperlyConfigured(DATABASE_REMEDY) from error
    try:
        options = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"DATABASE_URL cannot be used: {str(error).strip()}. Correct what follows the question mark; "
            "?sslmode=require, for example, is valid."
        ) from error
    name, host, ports = (str(options.pop(key, "")) for key in ("dbname", "host", "port"))
    has_valid_ports = all(
        port.isdecimal() and 0 < int(port) < 65_536 for port in ports.split(",") if ports
    )
    if not name or "@" in host or not has_valid_ports:
        raise ImproperlyConfigured(DATABASE_REMEDY)
    pool = {"min_size": 1, "max_size": connection_pool_size(), "timeout": 10}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": options.pop("user", ""),
        "PASSWORD": options.pop("password", "") or database_password(),
        "HOST": host,
        "PORT": ports,
        # Parameters of the address, sslmode for example, are passed on to the driver.
        "OPTIONS": {**options, **POSTGRES_OPTIONS, "pool": pool},
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


def connection_pool_size() -> int:
    """Each thread may need a connection, and the main thread of a process too."""
    threads = web_threads()
    size = number("JEDI_DB_POOL", max(8, threads + 1))
    if size > threads:
        return size
    raise ImproperlyConfigured(
        f"JEDI_DB_POOL is {size}, which must be larger than WEB_THREADS ({threads}). Set it to {threads + 1} or more, "
        "or unset it."
    )


def database_password() -> str:
    """The password from a file, for deployments that keep it out of the environment."""
    name = text("JEDI_DB_PASSWORD_FILE")
    try:
        return Path(name).read_text().strip() if name else ""
    except OSError as error:
        raise ImproperlyConfigured(
            f"JEDI_DB_PASSWORD_FILE names {name}, which cannot be read ({error.strerror}). "
            "Correct the path, or put the password into DATABASE_URL."
        ) from error


def cache() -> dict[str, Any]:
    """The memory of each process, or the Valkey or Redis of JEDI_CACHE_URL, which all web servers share."""
    url = text("JEDI_CACHE_URL")
    if not url:
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    from redis import ConnectionPool, RedisError
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as ConnectionLost
    from redis.retry import Retry

    # redis-py would ignore the name of a database that is not a number. Nothing connects here.
    is_redis = re.fullmatch(r"rediss?://[^/?]+(/[0-9]*)?(\?.*)?", url)
    try:
        if not is_redis or urlsplit(url).port == 0:
            raise ImproperlyConfigured(CACHE_REMEDY)
        ConnectionPool.from_url(url).make_connection()
    except (TypeError, ValueError, RedisError) as error:
        raise ImproperlyConfigured(CACHE_REMEDY) from error
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "KEY_PREFIX": "jedi_web",
        "OPTIONS": {
            # A participant who joins waits this long if the cache does not respond.
            "socket_connect_timeout": 0.1,
            "socket_timeout": 0.1,
            # Reconnect once and at once: the connection may be older than the server.
            "retry": Retry(NoBackoff(), 1, (ConnectionLost,)),
        },
    }


def refuse_lost_settings(public_addresses: list[str]) -> None:
    """Stop if a JEDI_ variable was misspelt, or was removed and JEDI_PUBLIC_URL does not say the same."""
    for name in sorted(unknown_settings()):
        if similar := get_close_matches(name, SETTINGS, 1, cutoff=0.8):
            raise ImproperlyConfigured(f"{name} is not a setting. Did you mean {similar[0]}?")
    if flag("JEDI_HTTPS") and not public_addresses[0].startswith("https://"):
        raise ImproperlyConfigured(
            "JEDI_HTTPS was removed. Unset it and let JEDI_PUBLIC_URL begin with https:// instead."
        )
    public_hosts = {urlsplit(address).hostname for address in public_addresses}
    for name in ("JEDI_ALLOWED_HOSTS", "JEDI_CSRF_TRUSTED_ORIGINS"):
        for value in items(name):
            host = urlsplit(value if "//" in value else f"//{value}").hostname
            if host not in public_hosts | {"127.0.0.1", "localhost", "::1"}:
                raise ImproperlyConfigured(
                    f"{name} was removed. Unset it and add the address of {value} to JEDI_PUBLIC_URL, after a comma."
                )


def unknown_settings() -> set[str]:
    """JEDI_ variables that are neither settings nor replaced by one."""
    names = {name for name in os.environ if name.startswith("JEDI_")}
    return names - SETTINGS - REMOVED_SETTINGS.keys()


def removed_settings() -> list[str]:
    return [name for name in REMOVED_SETTINGS if text(name, "0") != "0"]
