"""The example in the guide runs without Django."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "reproduction.md"


def test_the_notebook_of_the_guide_needs_no_django():
    snippet = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[1]
    check = "import sys\nassert 'django' not in sys.modules"
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{snippet}\n{check}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert re.fullmatch(r"\[(\d+, ){4}\d+\]\n", told.stdout)
