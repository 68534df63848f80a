"""Deployment settings. What a study does is in the fields of a Study. `.env.example` explains each variable."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from . import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent
JEDI_DATA_DIR = Path(env.text("JEDI_DATA_DIR", str(BASE_DIR / "var"))).resolve()
# gunicorn reads this variable before our configuration; commands that run first report an invalid value.
env.web_processes()
# The number of reverse proxies in front of the server.
JEDI_PROXIES = env.number("JEDI_PROXIES", 0)

LOOPBACK = f"http://127.0.0.1:{env.port()}"
PUBLIC_ADDRESSES = env.web_addresses("JEDI_PUBLIC_URL", LOOPBACK)
env.refuse_lost_settings(PUBLIC_ADDRESSES)
# Links begin with the first address; the others are accepted too.
JEDI_PUBLIC_URL = PUBLIC_ADDRESSES[0]
# Where the background worker reaches the web server, for bots that rehearse a study.
JEDI_INTERNAL_URL = env.web_address("JEDI_INTERNAL_URL", LOOPBACK)
# Loopback is for health checks.
ALLOWED_HOSTS = [
    "127.0.0.1",
    "localhost",
    "[::1]",
    *map(env.host_of, [*PUBLIC_ADDRESSES, JEDI_INTERNAL_URL]),
]
CSRF_TRUSTED_ORIGINS = [f"{url.scheme}://{url.netloc}" for url in map(urlsplit, PUBLIC_ADDRESSES)]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = JEDI_PUBLIC_URL.startswith("https://")
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
if JEDI_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Opt-in, because browsers remember it for so long. The reverse proxy redirects to HTTPS.
SECURE_HSTS_SECONDS = env.number("JEDI_HSTS_SECONDS", 0)
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W005", "security.W008", "security.W021"]

# Whether webhooks may lead into the server's own network, and use plain http.
JEDI_WEBHOOK_PRIVATE = env.flag("JEDI_WEBHOOK_PRIVATE")

# The stages of a session, in order. The apps do not import each other: they meet here.
JEDI_STAGES = [
    "studies.consent.ConsentStage",
    "memorytest.stage.MemoryStage",
    "teaching.stage.TeachingStage",
    "evaluation.stage.EvaluationStage",
]

DEBUG = env.flag("JEDI_DEBUG")
SECRET_KEY = env.secret_key(JEDI_DATA_DIR)
SECRET_KEY_FALLBACKS = env.items("JEDI_SECRET_KEY_FALLBACKS")

INSTALLED_APPS = [
    "jedi_web.admin_site.ResearchAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "django_tasks_db",
    "jedi_web",
    "studies",
    "memorytest",
    "teaching",
    "evaluation",
    "analysis",
    "jobs",
    "desk",
    "image_datasets",
    "rehearsal",
]

MIDDLEWARE = [
    "studies.request_ids.RequestIdMiddleware",
    "jedi_web.middleware.SlowRequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "jedi_web.middleware.PermissionsPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "jedi_web.urls"
WSGI_APPLICATION = "jedi_web.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": env.database(JEDI_DATA_DIR)}
CACHES = {"default": env.cache()}
JEDI_SHARES_CACHE = bool(env.text("JEDI_CACHE_URL"))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Long work runs in `manage.py work`, which takes it from the database.
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

# Sign-in: five wrong passwords for a user name from one address, or ADDRESS_FAILURE_LIMIT from one address, lock it
# for 15 minutes. Attempts during a lockout do not prolong it.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_HANDLER = "jedi_web.sign_in.SignInHandler"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_ENABLE_ADMIN = False
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_HTTP_RESPONSE_CODE = 429
# Only failed sign-ins are recorded. Participants never sign in.
AXES_DISABLE_ACCESS_LOG = True
AXES_CLIENT_IP_CALLABLE = "jedi_web.sign_in.client_address"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
PASSWORD_RESET_TIMEOUT = timedelta(days=3).total_seconds()

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
# CSV files and JSON must read the same everywhere.
USE_I18N = False

STATIC_URL = "static/"
STATIC_ROOT = JEDI_DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "jedi_web.storage.ModuleManifestStorage"},
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_RATES": {
        "join": env.rate("JEDI_JOIN_RATE", "240/min"),
        "researchers": env.rate("JEDI_API_RATE", "300/min"),
    },
    "NUM_PROXIES": JEDI_PROXIES,
    "EXCEPTION_HANDLER": "studies.api.errors.error_reply",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "JEDI Web API",
    "DESCRIPTION": "What a worker's page, a bot or another front end says to the server (`/api/studies/`, "
    "`/api/sessions/`), and what a researcher's programs do with studies (`/api/v1/`).",
    "VERSION": "1.0.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
# Sites that may show the worker's pages inside their own; nobody may frame the admin.
JEDI_FRAME_ANCESTORS = env.items("JEDI_FRAME_ANCESTORS")

# Requests slower than this are logged.
JEDI_SLOW_MS = env.number("JEDI_SLOW_MS", 500)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "jedi_web.logs.LineFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "jedi_web.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "json" if env.flag("JEDI_LOG_JSON") else "line",
        }
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "axes": {"level": "WARNING"},
        # The result of a task is on the page of its job.
        "django_tasks": {"level": "CRITICAL"},
        "django_tasks_db": {"level": "CRITICAL"},
        # gunicorn has this dictionary too. Its access log would contain session links.
        "gunicorn.access": {"level": "CRITICAL"},
        "gunicorn.error": {"propagate": True},
        # Refusals of the everyday kind stay out of the log.
        "django.request": {"level": "ERROR"},
    },
}
