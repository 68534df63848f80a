"""How many connections a web process may keep open: each takes one of its file descriptors."""

import resource

# A worker's browser keeps several open, for the next images and answers.
MOST_CONNECTIONS = 4_000
# For the database, images, logs, modules that are being loaded.
OTHER_FILES = 200


def allowed_connections() -> int:
    """As many as the system allows, after asking it for as many descriptors as are wanted and may be had."""
    wanted = MOST_CONNECTIONS + OTHER_FILES
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != now < wanted:
        now = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))
    given = wanted if now == resource.RLIM_INFINITY else min(wanted, now)
    return max(1, given - OTHER_FILES)
