"""What the page of a data set shows, from its rows and the insight that was kept with it."""

from typing import Any

from image_datasets.remedy import Remedy
from image_datasets.trials import trial_table
from studies.models import Dataset, Example
from studies.shortcuts import RULE, shortcut_warnings, shortcuts_of
from teaching.ceiling import ceiling_of, ceiling_sentence

# Images on a contact sheet, for each class.
SHEET = 24
MAP_WIDTH, MAP_HEIGHT, MAP_MARGIN = 640, 420, 12
# The marks of the map: a circle, a square, a triangle and a diamond, in turn.
SHAPES = 4


def dataset_page(dataset: Dataset, user: Any) -> dict[str, Any]:
    """`user` is who looks: of the studies that use the data set, those are named that one may see."""
    keys = dict(
        dataset.examples.filter(split=Example.Split.TEACHING).values_list("pool_index", "key")
    )
    insight, marks = dataset.insight, marks_of(dataset)
    return {
        "insight": insight,
        "warnings": warnings_about(dataset),
        "shortcuts": shortcuts_of(dataset),
        "shortcut_rule": RULE,
        "remedy": str(Remedy(**insight["remedy"])) if "remedy" in insight else "",
        "trials": trial_table(insight.get("trials", [])),
        "ceiling": ceiling_of(dataset),
        "ceiling_sentence": ceiling_sentence(dataset),
        "studies": dataset.studies.visible_to(user),
        "is_used": dataset.studies.exists(),
        "sheets": [
            {"name": dataset.class_names[label], "keys": contact_sheet(dataset, label)}
            for label in range(len(dataset.class_names))
        ],
        "hardest": with_images(insight.get("hardest", []), keys, dataset),
        "ambiguous": with_images(insight.get("ambiguous", []), keys, dataset),
        "marks": marks,
        "points": map_points(insight.get("map"), keys, marks),
        "map_size": {"width": MAP_WIDTH, "height": MAP_HEIGHT},
        "confusion": confusion_rows(dataset),
    }


def warnings_about(dataset: Dataset) -> list[str]:
    """Everything that stands out. Shortcuts are judged now; older data sets hold older verdicts about them."""
    kept = dataset.insight.get("warnings", [])
    others = [row for row in kept if row["code"] != "shortcut"]
    return [f"{row['message']} {row['remedy']}" for row in others] + shortcut_warnings(dataset)


def contact_sheet(dataset: Dataset, label: int) -> list[str]:
    rows = dataset.examples.filter(split=Example.Split.TEACHING, label=label)
    return list(rows.order_by("pool_index").values_list("key", flat=True)[:SHEET])


def with_images(
    rows: list[dict[str, Any]], keys: dict[int | None, str], dataset: Dataset
) -> list[dict[str, Any]]:
    """Examples with what the target concept says of them: its most probable class, and how probable that is."""
    told = [(row, *said_of(row)) for row in rows if row["pool_index"] in keys]
    return [
        {
            "key": keys[row["pool_index"]],
            "label": dataset.class_names[row["label"]],
            "said": dataset.class_names[said],
            "percent": round(100 * probability),
        }
        for row, said, probability in told
    ]


def said_of(row: dict[str, Any]) -> tuple[int, float]:
    """The class that the concept says, and how probable it is. Older rows have the probability of class 1 alone."""
    if "said" in row:
        return row["said"], row["probability"]
    p = row["probability"]
    return int(p >= 0.5), max(p, 1 - p)


def marks_of(dataset: Dataset) -> list[dict[str, Any]]:
    """How each class is drawn on the map, class 0 first."""
    return [
        {"name": one.display_name, "colour": one.colour, "shape": one.index % SHAPES}
        for one in dataset.classes.all()
    ]


def map_points(
    layout: dict[str, Any] | None, keys: dict[int | None, str], marks: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The examples as points of the page's map, y upwards."""
    if not layout:
        return []
    rows = zip(layout["pool_index"], layout["label"], layout["x"], layout["y"], strict=True)
    return [
        {
            "x": round(MAP_MARGIN + x * (MAP_WIDTH - 2 * MAP_MARGIN), 1),
            "y": round(MAP_MARGIN + (1 - y) * (MAP_HEIGHT - 2 * MAP_MARGIN), 1),
            "key": keys.get(index, ""),
            **marks[label],
        }
        for index, label, x, y in rows
    ]


def confusion_rows(dataset: Dataset) -> list[dict[str, Any]]:
    counts = dataset.insight.get("accuracy", {}).get("confusion", [])
    pairs = zip(dataset.class_names, counts, strict=False)
    return [{"name": name, "counts": row} for name, row in pairs]
