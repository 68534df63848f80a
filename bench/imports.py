"""How long an import takes, step by step, and how much memory.

    python -m bench.imports                        600 drawn photographs of 640 × 480
    python -m bench.imports --images 10000         another size
    python -m bench.imports --folder PATH          photographs of your own, one sub-folder per class

The real command imports into a data folder of its own, which is removed at the end. Memory is that of
the whole tree of processes; what they share is counted once. The bars are for two idle cores: the
command's own processor time is reported beside the elapsed time, because other work on the machine does not
lengthen it.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 640, 480
# Numbers of images, and the seconds that each may take.
BARS = {600: 60, 10_000: 12 * 60}
MOST_MEGABYTES = 1500
SAMPLE_SECONDS = 0.2


@dataclass
class Measured:
    """What was seen of one import."""

    lines: list[tuple[float, str]] = field(default_factory=list)
    """when each line came, in seconds from the start"""
    seconds: float = 0.0
    processor_seconds: float = 0.0
    peaks: dict[int, float] = field(default_factory=dict)
    """the most megabytes while each line was the last one"""

    @property
    def peak_megabytes(self) -> float:
        return max(self.peaks.values())


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="jedi-bench-") as base:
        folder = arguments.folder or drawn_folder(Path(base) / "images", arguments.images)
        count = sum(1 for path in folder.rglob("*") if path.suffix.lower() in {".jpg", ".png"})
        load = os.getloadavg()[0]
        print(f"{count} images, {os.cpu_count()} cores, load of the machine {load:.1f}", flush=True)
        report(measured_import(folder, Path(base) / "data"), count)
        report_storage(Path(base) / "data")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.imports", description=__doc__)
    parser.add_argument("--images", type=int, default=600, help="how many to draw")
    parser.add_argument("--folder", type=Path, help="photographs, one sub-folder per class")
    return parser.parse_args()


def drawn_folder(folder: Path, count: int) -> Path:
    for label in ("left", "right"):
        (folder / label).mkdir(parents=True)
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(draw, folder), range(count), chunksize=16))
    return folder


def draw(folder: Path, number: int) -> None:
    """Light, blots of all sizes and grain, as in a photograph; waves lean to the side of the class."""
    rng = np.random.default_rng(number)
    sign = 1 if number % 2 else -1
    canvas = np.zeros((HEIGHT, WIDTH, 3), dtype=np.float32)
    for cells, strength in ((3, 90), (9, 60), (31, 40), (97, 25)):
        blots = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        soft = blots.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        canvas += strength / 255 * np.asarray(soft, dtype=np.float32)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32) / HEIGHT
    angle = 0.8 + 0.3 * sign + rng.normal(0, 0.5)
    waves = np.sin(rng.uniform(20, 60) * (x * np.cos(angle) + y * np.sin(angle)))
    canvas += 20 * waves[..., None] + rng.normal(0, 6, (HEIGHT, WIDTH, 1)).astype(np.float32)
    picture = Image.fromarray(np.clip(canvas + 20, 0, 255).astype(np.uint8))
    picture.save(folder / ("right" if sign > 0 else "left") / f"{number:06}.jpg", quality=90)


def measured_import(folder: Path, data: Path) -> Measured:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("JEDI_")},
        "JEDI_DATA_DIR": str(data),
        "DATABASE_URL": "",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    data.mkdir()
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "--verbosity=0"], cwd=ROOT, env=environment, check=True)
    found = Measured()
    before = _processor_seconds()
    start = time.perf_counter()
    importing = subprocess.Popen(
        [*manage, "import_dataset", "Bench", str(folder), "--seed", "1"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    watching = threading.Thread(target=_watch_memory, args=[importing, found])
    watching.start()
    for line in importing.stdout or ():
        found.lines.append((time.perf_counter() - start, line.strip()))
    if importing.wait():
        sys.exit("The import failed.")
    found.seconds = time.perf_counter() - start
    found.processor_seconds = _processor_seconds() - before
    watching.join()
    return found


def _processor_seconds() -> float:
    """Of all processes that were started here and have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch_memory(process: "subprocess.Popen[str]", found: Measured) -> None:
    while process.poll() is None:
        total = sum(_megabytes(pid) for pid in _tree(process.pid))
        line = len(found.lines) - 1
        found.peaks[line] = max(found.peaks.get(line, 0.0), total)
        time.sleep(SAMPLE_SECONDS)


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        threads = Path(f"/proc/{pid}/task").iterdir()
        children += [
            child
            for thread in threads
            if thread.name != str(pid)
            for child in (thread / "children").read_text().split()
        ]
    except OSError:
        return [pid]
    return [pid, *(found for child in children for found in _tree(int(child)))]


def _megabytes(pid: int) -> float:
    """The proportional share: a page of two processes counts half for each."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def report(found: Measured, count: int) -> None:
    ends = [at for at, _ in found.lines[1:]] + [found.seconds]
    for number, ((began, line), ended) in enumerate(zip(found.lines, ends, strict=True)):
        if ended - began >= 0.05:
            milliseconds = 1000 * (ended - began) / count
            megabytes = f"{found.peaks.get(number, 0.0):6.0f} MB"
            print(f"{ended - began:8.1f} s {milliseconds:8.1f} ms an image {megabytes}  {line}")
        else:
            print(f"{'':40} {line}")
    print(
        f"{found.seconds:8.1f} s {1000 * found.seconds / count:8.1f} ms an image "
        f"{found.peak_megabytes:6.0f} MB  in all; "
        f"{found.processor_seconds:.0f} s of processor time, so {found.processor_seconds / 2:.0f} s "
        "at least on two idle cores"
    )
    judge(found, count)


def report_storage(data: Path) -> None:
    """What the images take on disk, in each of their sizes; all files of one have the same length."""
    for folder in sorted(data.glob("datasets/*/images*")):
        lengths = [path.stat().st_size for path in folder.iterdir()]
        print(
            f"{folder.name}: {max(lengths) / 1000:.0f} kB an image, {sum(lengths) / 1e6:.0f} MB in all"
        )


def judge(found: Measured, count: int) -> None:
    bar = next((seconds for images, seconds in BARS.items() if count <= images), None)
    if bar is not None:
        print(f"under {bar} s: {_word(found.seconds < bar)}")
    print(f"under {MOST_MEGABYTES} MB: {_word(found.peak_megabytes < MOST_MEGABYTES)}")


def _word(holds: bool) -> str:
    return "yes" if holds else "NO"


if __name__ == "__main__":
    main()
