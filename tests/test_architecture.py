"""The arrows between the packages, proved from their imports."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What each package may import of ours. Nothing imports jedi_web.
ARROWS = {
    "teaching.engine": set(),
    "studies": set(),
    "memorytest": {"studies"},
    "teaching": {"studies", "teaching.engine"},
    "evaluation": {"studies", "memorytest", "teaching", "teaching.engine"},
    "rehearsal": {"studies", "memorytest", "teaching", "teaching.engine", "evaluation"},
    "desk": {"studies", "memorytest", "teaching", "teaching.engine", "evaluation", "rehearsal"},
    "datasets": {"studies", "teaching", "teaching.engine"},
    "demo": {"studies", "datasets"},
    "reproduction": {
        "studies",
        "memorytest",
        "teaching",
        "teaching.engine",
        "evaluation",
        "datasets",
    },
    "jedi_web": {"studies", "memorytest", "teaching", "evaluation", "desk", "datasets", "demo"},
}
WEB_LIBRARIES = {"django", "rest_framework", "drf_spectacular"}


def package_of(module: str) -> str | None:
    if module == "teaching.engine" or module.startswith("teaching.engine."):
        return "teaching.engine"
    top = module.split(".")[0]
    return top if top in ARROWS else None


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path) -> set[str]:
    """The absolute names of everything that a file imports."""
    module, modules = module_name(path), set()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = (
                package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            )
            origin = ".".join([*base, *([node.module] if node.module else [])])
            modules.add(origin)
            modules.update(f"{origin}.{alias.name}" for alias in node.names)
    return modules


def files_of(package: str) -> list[Path]:
    folder = ROOT / package.replace(".", "/")
    return [path for path in folder.rglob("*.py") if package_of(module_name(path)) == package]


@pytest.mark.parametrize("package", ARROWS)
def test_imports_point_down_only(package):
    for path in files_of(package):
        imported = {package_of(module) for module in imported_modules(path)} - {None, package}
        # `from teaching import engine` names its parent too; that is no import of the app.
        allowed = ARROWS[package]
        assert imported <= allowed, f"{path.relative_to(ROOT)} imports {imported - allowed}"


def test_the_engine_knows_no_django():
    for path in files_of("teaching.engine"):
        imported = {module.split(".")[0] for module in imported_modules(path)}
        assert not imported & WEB_LIBRARIES, path


def test_every_package_with_code_has_its_arrows():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages | {"teaching.engine"} == set(ARROWS)


def test_views_know_no_mathematics():
    for path in [*ROOT.glob("*/views.py"), *ROOT.glob("*/api.py"), *ROOT.glob("*/admin.py")]:
        imported = {module.split(".")[0] for module in imported_modules(path)}
        assert not imported & {"numpy", "scipy"}, path


def test_an_arrow_that_points_up_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_architecture.ROOT", tmp_path)
    (tmp_path / "studies").mkdir()
    bad = tmp_path / "studies" / "bad.py"
    bad.write_text("from teaching import pools\n")
    assert package_of("teaching") in {package_of(module) for module in imported_modules(bad)}


def test_a_server_starts_without_numerics_and_loads_them_before_a_page_asks(tmp_path):
    """They take longer to load than all the rest, and nobody waits for them before a page needs them."""
    code = (
        "import sys, django; django.setup()\n"
        "from django.urls import get_resolver; get_resolver().url_patterns\n"
        "told = lambda: print([name for name in ('numpy', 'scipy.stats', 'PIL') if name in sys.modules])\n"
        "told()\n"
        "from jedi_web import ahead; ahead.load()\n"
        "told()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ
        | {"JEDI_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "jedi_web.settings"},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n['numpy', 'scipy.stats']\n", "")
