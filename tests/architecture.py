"""The packages of the project and what each may import: the one table behind the test and the docs.

`python -m tests.architecture` writes the diagram and the table of docs/architecture.md anew.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"

# What each package may import of ours, from the bottom up. A package with rows of its own for parts of it
# stands for the rest of its modules.
LAYERS: dict[str, set[str]] = {
    "teaching.engine": set(),
    "analysis.stats": set(),
    "analysis.charts": {"analysis.stats"},
    "jobs": set(),
    "studies": set(),
    "memorytest": {"studies"},
    "teaching": {"studies", "teaching.engine", "analysis.stats"},
    "evaluation": {"studies", "teaching"},
    "analysis.exports": {"studies", "memorytest", "teaching", "evaluation"},
    "analysis.results": {
        "studies", "teaching", "evaluation", "analysis.stats", "analysis.charts", "analysis.exports",
    },
    "analysis.modelcheck": {
        "studies", "teaching", "teaching.engine", "analysis.stats", "analysis.charts", "analysis.results",
    },
    "analysis": {"studies", "analysis.charts", "analysis.exports"},
    "rehearsal": {
        "jobs", "studies", "memorytest", "teaching", "teaching.engine", "evaluation", "analysis.stats",
        "analysis.charts",
    },
    "image_datasets": {"jobs", "studies", "teaching", "teaching.engine", "analysis.stats"},
    "desk": {
        "jobs", "studies", "memorytest", "teaching", "teaching.engine", "evaluation",
        "analysis.stats", "analysis.charts", "analysis.exports", "analysis.results", "analysis.modelcheck",
        "rehearsal",
    },
    "research": {
        "jobs", "studies", "memorytest", "teaching", "teaching.engine", "evaluation", "analysis.stats",
        "analysis.charts",
    },
    "jedi_web": {"jobs", "studies", "teaching", "desk", "image_datasets", "analysis.exports"},
}  # fmt: skip


def package_of(module: str) -> str | None:
    """The row that a module belongs to: the longest name that begins its own."""
    matches = [name for name in LAYERS if f"{module}.".startswith(f"{name}.")]
    return max(matches, key=len, default=None)


def module_name(path: Path, root: Path = ROOT) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def files_of(package: str) -> list[Path]:
    place = ROOT / package.replace(".", "/")
    files = (
        [place.with_suffix(".py")] if place.with_suffix(".py").is_file() else place.rglob("*.py")
    )
    return [path for path in files if package_of(module_name(path)) == package]


def imported_modules(path: Path, root: Path = ROOT) -> set[str]:
    """The absolute names of everything that a file imports."""
    module, modules = module_name(path, root), set()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.update(names_in(node, package))
    return modules


def names_in(node: ast.ImportFrom, package: str) -> Iterator[str]:
    """`from a import b` may import a.b, or the name b of a: then a is imported, and its parents are not meant."""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1] if node.level else []
    origin = ".".join([*base, *([node.module] if node.module else [])])
    for alias in node.names:
        name = f"{origin}.{alias.name}"
        yield name if package_of(name) != package_of(origin) else origin


def sentence_of(package: str) -> str:
    """The first sentence of the package's docstring."""
    place = ROOT / package.replace(".", "/")
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def direct_arrows() -> Iterator[tuple[str, str]]:
    """The arrows that do not follow from others."""
    for package, below in LAYERS.items():
        indirect = {lower for other in below for lower in everything_below(other)}
        yield from ((package, other) for other in LAYERS if other in below - indirect)


def everything_below(package: str) -> set[str]:
    return LAYERS[package].union(*(everything_below(other) for other in LAYERS[package]))


def diagram() -> str:
    lines = [f'    {name.replace(".", "_")}["{name}"]' for name in reversed(LAYERS)]
    lines += [f"    {a.replace('.', '_')} --> {b.replace('.', '_')}" for a, b in direct_arrows()]
    return "\n".join(["```mermaid", "graph TD", *lines, "```"])


def table() -> str:
    rows = [
        f"| `{name.replace('.', '/')}` | {sentence_of(name)} | {names_below(name)} |"
        for name in reversed(LAYERS)
    ]
    return "\n".join(["| package | what lives there | may import |", "| --- | --- | --- |", *rows])


def names_below(package: str) -> str:
    return ", ".join(f"`{name}`" for name in LAYERS if name in LAYERS[package]) or "nothing of ours"


def page_with(parts: dict[str, str], text: str) -> str:
    """The page with what stands between the marks of each part written anew."""
    for name, content in parts.items():
        between = re.compile(f"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        assert between.search(text), f"docs/architecture.md has no part “{name}”"
        text = between.sub(lambda found, new=content: found[1] + new + found[2], text)
    return text


def current_page() -> str:
    return page_with({"diagram": diagram(), "packages": table()}, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(current_page(), encoding="utf-8")
