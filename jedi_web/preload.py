"""What pages load when they are first opened, loaded before anybody opens one.

A server that loaded it all would start in twice the time. So it starts without, and each of its processes
loads the rest beside its first requests.
"""

import gc
import threading
from importlib import import_module

from django.conf import settings

from desk.pages import PAGES


def load_beside() -> None:
    """Returns at once; a page that needs a module which is being loaded waits for that one only."""
    threading.Thread(target=load_for_good, name="preload", daemon=True).start()


def load_for_good() -> None:
    """What is there then stays for as long as the process: to look through it for garbage would hold up every worker
    for a tenth of a second, again and again."""
    load()
    gc.collect()
    gc.freeze()


def load() -> None:
    """A worker's next image first: somebody may be waiting for it."""
    for path in settings.JEDI_STAGES:
        import_module(path.rpartition(".")[0])
    for page in PAGES:
        for name in page.preloads:
            import_module(name)
