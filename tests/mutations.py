"""Mutation testing: `python -m tests.mutations [--seed 1] [--count 60] [--revision HEAD] [--within analysis/results]`.

Makes small seeded changes (mutations) to production code, one at a time, in a clone of the repository, and reports for
each package how many of them make a test fail. Packages get mutations in proportion to their lines.

Which tests cover a module is derived from names and imports: the tests in the folder of the same name and those that
import the module, then the same for the modules that import it, tests/web, and so on. Tests in a browser and the long
tests under faults are left out. A mutation that no test notices within the time limit counts as not caught. Some
mutations are equivalent to the original program, so 100 % cannot be expected.
"""

import argparse
import ast
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path

NOT_PRODUCTION = {"tests", "bench", "research", "reproduction"}
FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
NO_TESTS = 5
OPPOSITES: dict[type[ast.AST], Sequence[type[ast.AST]]] = {
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,),
    ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    file: str
    line: int
    start: int
    end: int
    """offsets in bytes, as the positions of ast"""
    kind: str
    before: str
    after: str
    outcome: str = ""

    def __str__(self) -> str:
        before, after = (" ".join(text.split())[:90] for text in (self.before, self.after))
        return f"{self.file}:{self.line}  {before}  →  {after}"


def changes(node: ast.AST, is_in_function: bool) -> Iterator[tuple[str, ast.AST, str]]:
    """Every mutation of one node: its kind, the node that is replaced, and the new source."""
    match node:
        case ast.Compare(left, [op], right):
            for new in OPPOSITES[type(op)]:
                yield "comparison", node, ast.unparse(ast.Compare(left, [new()], right))
        # A difference of texts would only raise TypeError.
        case ast.BinOp(left, op, right) if type(op) in OPPOSITES and not has_text(node):
            new_op = OPPOSITES[type(op)][0]()
            yield "arithmetic", node, ast.unparse(ast.BinOp(left, new_op, right))
        case ast.BoolOp(op, values):
            yield "and/or", node, ast.unparse(ast.BoolOp(OPPOSITES[type(op)][0](), values))
        case ast.UnaryOp(ast.Not(), operand):
            yield "not", node, f"({ast.unparse(operand)})"
        case ast.If(test) | ast.IfExp(test) | ast.While(test):
            yield "condition", test, f"(not ({ast.unparse(test)}))"
        case ast.Constant(bool(value)):
            yield "boolean", node, repr(not value)
        case ast.Constant(int(value) | float(value)):
            yield "constant", node, repr(value + 1)
            yield "constant", node, f"({value - 1!r})"
        case ast.Return(value) if value and ast.unparse(value) != "None":
            yield "return", node, "return None"
        case ast.Expr(ast.Constant() | ast.Yield()):
            pass
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise() if is_in_function:
            yield "statement", node, "pass"


def has_text(node: ast.AST) -> bool:
    return any(isinstance(getattr(one, "value", None), str) for one in ast.walk(node))


def mutations_of(root: Path, file: str) -> list[Mutation]:
    source = (root / file).read_bytes()
    line_starts = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
    found = []

    def visit(node: ast.AST, is_in_function: bool) -> None:
        for kind, old, after in changes(node, is_in_function):
            start = line_starts[old.lineno - 1] + old.col_offset
            end = line_starts[old.end_lineno - 1] + old.end_col_offset
            before = source[start:end].decode()
            found.append(Mutation(file, old.lineno, start, end, kind, before, after))
        if isinstance(node, ast.JoinedStr):
            return  # Before Python 3.12, positions within an f-string are wrong.
        for name, value in ast.iter_fields(node):
            if name not in {"annotation", "returns", "decorator_list"}:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        visit(child, is_in_function or isinstance(node, ast.FunctionDef))

    visit(ast.parse(source), False)
    return found


def choose(root: Path, files: Sequence[str], count: int, seed: int) -> list[Mutation]:
    """Files by systematic sampling over all their lines; within a file, every kind is equally likely."""
    draw = random.Random(seed)
    possible = {file: found for file in files if (found := mutations_of(root, file))}
    ends = list(accumulate((root / file).read_bytes().count(b"\n") for file in possible))
    step, offset = ends[-1] / count, draw.random()
    chosen = []
    for number in range(count):
        file = list(possible)[bisect(ends, (number + offset) * step)]
        kind = draw.choice(sorted({one.kind for one in possible[file]}))
        mutation = draw.choice([one for one in possible[file] if one.kind == kind])
        possible[file].remove(mutation)
        chosen.append(mutation)
    return chosen


@cache
def imports_of(root: Path) -> dict[str, set[str]]:
    """The files of ours that each Python file imports by name."""
    result = {}
    for path in root.rglob("*.py"):
        file, names = path.relative_to(root), set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                package = file.parts[: len(file.parts) - node.level] if node.level else ()
                base = ".".join([*package, *([node.module] if node.module else [])])
                names.update({base, *(f"{base}.{alias.name}" for alias in node.names)})
        places = [name.replace(".", "/") for name in names]
        candidates = {f"{one}{end}" for one in places for end in (".py", "/__init__.py")}
        result[str(file)] = {one for one in candidates if (root / one).is_file()}
    return result


def covering_tests(root: Path, file: str) -> tuple[list[str], list[str]]:
    """The tests near a module, and those of the modules that import it, nearest first."""
    imports = imports_of(root)
    layer, seen, tests = [file], {file}, []
    while layer:
        importers = [one for one, names in imports.items() if names.intersection(layer)]
        own = [path for module in layer for path in tests_named_like(root, module)]
        own += [one for one in importers if Path(one).name.startswith("test_")]
        # The tests in a file of the same name are the likeliest to fail.
        stems = {f"test_{part}" for module in layer for part in Path(module).with_suffix("").parts}
        tests.append(sorted(own, key=lambda path: Path(path).stem not in stems))
        layer = [one for one in importers if one not in seen and not one.startswith("tests/")]
        seen.update(layer)
    near, *layers = tests
    web = [str(path.relative_to(root)) for path in sorted(root.glob("tests/web/test_*.py"))]
    far = [*layers[:1], web, *layers[1:]]
    others = [path for own in far for path in own if path not in near and "/browser/" not in path]
    others.sort(key=lambda path: path.startswith(("tests/deployment/", "tests/research/")))
    return list(dict.fromkeys(near)), list(dict.fromkeys(others))


def tests_named_like(root: Path, module: str) -> list[str]:
    """The tests that call a command by its name, or those in the folder of the module's name."""
    if "/management/commands/" in module:
        name = f'"{Path(module).stem}"'
        paths = [path for path in (root / "tests").rglob("test_*.py") if name in path.read_text()]
    elif module.startswith("jedi_web/"):
        paths = list((root / "tests/deployment").glob("test_*.py"))
    else:
        folder = next(one for one in (root / "tests" / module).parents if one.is_dir())
        paths = [] if folder == root / "tests" else list(folder.rglob("test_*.py"))
    return sorted(str(path.relative_to(root)) for path in paths)


def run_tests(root: Path, tests: Sequence[str], seconds: float) -> tuple[int | None, list[str]]:
    """The exit code of pytest, None after the time limit, and the tests that failed."""
    options = ["-x", "-q", "--tb=no", "-m", "not faults", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=root,
        # Two versions of a file of the same length within a second would share one file of bytecode.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=max(seconds, 1))[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, []
    return process.returncode, FAILED.findall(output)


def judge(root: Path, mutation: Mutation, limit: float) -> Mutation:
    """With its outcome: "caught" by a test that passes without the mutation, "survived", "time" or "no tests"."""
    path = root / mutation.file
    original = path.read_bytes()
    changed = original[: mutation.start] + mutation.after.encode() + original[mutation.end :]
    ends = time.monotonic() + limit
    outcome = "no tests"
    for tests in covering_tests(root, mutation.file):
        if not tests:
            continue
        skipped: list[str] = []
        while True:
            path.write_bytes(changed)
            code, failed = run_tests(root, [*tests, *skipped], ends - time.monotonic())
            path.write_bytes(original)
            if code is None:
                return replace(mutation, outcome="time")
            if code in {0, NO_TESTS}:
                outcome = "survived" if code == 0 else outcome
                break
            check = failed or [*tests, "--collect-only"]
            if run_tests(root, check, limit)[0] == 0:
                return replace(mutation, outcome="caught")
            if not failed:
                raise SystemExit(f"These tests cannot be collected: {' '.join(tests)}")
            print(f"{failed[0]} fails without a mutation, too", file=sys.stderr, flush=True)
            skipped += [f"--deselect={one}" for one in failed]
    return replace(mutation, outcome=outcome)


def report(results: Sequence[Mutation]) -> None:
    packages = Counter(one.file.split("/")[0] for one in results)
    caught = Counter(one.file.split("/")[0] for one in results if one.outcome == "caught")
    print("\nNot caught:")
    for one in results:
        if one.outcome != "caught":
            print(f"  {one.outcome:9} {one}")
    print()
    for name, count in sorted(packages.items()):
        print(f"{name:16} {caught[name]:3} of {count:3}")
    print(f"{'all':16} {caught.total():3} of {len(results):3}")


def clone_of(root: Path, commit: str, folder: Path) -> Path:
    for command in (["clone", "-qsn", root, folder], ["-C", folder, "checkout", "-q", commit]):
        subprocess.run(["git", *command], check=True)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--revision", default="HEAD", help="uncommitted changes are left out")
    parser.add_argument("--within", default="", help="only files whose path begins like this")
    parser.add_argument("--time-out", type=float, default=300, help="seconds for each mutation")
    parser.add_argument("--jobs", type=int, default=2, help="mutations tested side by side")
    options = parser.parse_args()
    git = ["git", "-C", options.root, "rev-parse", options.revision]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="jedi-mutations-") as folder:
        clones: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(options.jobs):
            clones.put(clone := clone_of(options.root, commit, Path(folder, str(number))))
        paths = [path.relative_to(clone) for path in sorted(clone.rglob("*.py"))]
        files = [
            str(path)
            for path in paths
            if path.parts[0] not in NOT_PRODUCTION
            and "migrations" not in path.parts
            and str(path).startswith(options.within)
        ]

        def test(mutation: Mutation) -> Mutation:
            clone = clones.get()
            result = judge(clone, mutation, options.time_out)
            clones.put(clone)
            print(f"{result.outcome:9} {result}", flush=True)
            return result

        with ThreadPoolExecutor(options.jobs) as pool:
            report(list(pool.map(test, choose(clone, files, options.count, options.seed))))


if __name__ == "__main__":
    main()
