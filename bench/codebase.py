"""The size of the code and the path of an answer: `python -m bench.codebase`.

Production code is all Python that git tracks, except tests, bench, research and migrations. The path is traced in one
process, from the view to its response; the engine counts separately.
"""

import ast
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOT_PRODUCTION = {"tests", "bench", "research"}
ENGINE = "teaching/engine/"
WARM_UP, STEPS = 3, 24


def production_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [Path(line) for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    return [
        path
        for path in paths
        if path.parts[0] not in NOT_PRODUCTION and "migrations" not in path.parts
    ]


def report_size() -> None:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in production_files()}
    lengths, private, names = [], [], Counter[str]()
    for text in texts.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths.append((node.end_lineno or 0) - node.lineno + 1)
                if node.name.startswith("_") and not node.name.startswith("__"):
                    private.append(node.name)
            elif isinstance(node, ast.Name):
                names[node.id] += 1
            elif isinstance(node, ast.Attribute):
                names[node.attr] += 1
    lengths.sort()
    used_once = sum(names[name] == 1 for name in private)
    print(f"production lines       {sum(text.count(chr(10)) for text in texts.values()):,}")
    print(f"modules                {len(texts)}")
    print(f"modules under 60 lines {sum(text.count(chr(10)) < 60 for text in texts.values())}")
    print(
        f"function lengths       median {statistics.median(lengths):.0f}, "
        f"90th percentile {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}"
    )
    print(f"private helpers used once {used_once}")


def report_path() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.test.utils import setup_test_environment

    setup_test_environment()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)

    from studies.api.views import Answers
    from tests.builders import make_dataset, make_study
    from tests.worker import Worker

    study = make_study(dataset=make_dataset(teaching=220, evaluation=100), short=False, arms="jedi")
    worker = Worker(study)
    state: dict[str, Any] = {"task": worker.go_to("teaching")}
    state["session"] = worker.get().json()["session"]

    def step() -> None:
        nonlocal state
        state = worker.answer_task(state).json()
        worker.client.get(state["task"]["image"]["url"])

    for _ in range(WARM_UP):
        step()

    seen: set[tuple[str, str]] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)):
            place = str(Path(code.co_filename).relative_to(ROOT))
            if not place.startswith((".venv", "tests")):
                seen.add((place, f"{code.co_qualname}:{code.co_firstlineno}"))

    post = Answers.post

    def traced(*arguments: Any, **options: Any) -> Any:
        sys.setprofile(profile)
        try:
            return post(*arguments, **options)
        finally:
            sys.setprofile(None)

    Answers.post = traced  # type: ignore[method-assign]
    step()
    Answers.post = post  # type: ignore[method-assign]
    path = {item for item in seen if not item[0].startswith(ENGINE)}
    files = sorted({place for place, _ in path})
    print(f"files an answer passes {len(files)}: {', '.join(files)}")
    print(f"functions              {len(path)}, and {len(seen) - len(path)} of the engine")

    times = []
    for _ in range(STEPS - WARM_UP):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    print(
        f"CPU per step           {1000 * statistics.median(times):.2f} ms (answer and next image)"
    )


if __name__ == "__main__":
    report_size()
    report_path()
