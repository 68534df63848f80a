"""The lists of the admin in groups that a researcher would make, each called once by what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GROUPS = {
    "Studies": ("Study", "Participant", "AuditEntry"),
    "Images": ("Dataset", "Import"),
    "Access": ("AccessToken", "User", "Group"),
}
ABOUT = {
    "Study": "all of them, including those that are closed",
    "Participant": "everybody who joined, with their sessions",
    "AuditEntry": "who exported, decided, deleted or changed what",
    "Dataset": "what studies teach and test with",
    "Import": "from your photographs to a data set",
    "AccessToken": "for your own programs",
    "User": "accounts of researchers",
    "Group": "what kinds of account may do",
}


def grouped(app_list: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a person may see of the admin's lists, by group; what no group names comes last."""
    models = {model["object_name"]: model for app in app_list for model in app["models"]}
    groups = {title: [name for name in names if name in models] for title, names in GROUPS.items()}
    known = {name for names in GROUPS.values() for name in names}
    groups["Other"] = [name for name in models if name not in known]
    return [
        {"title": title, "rows": [row_of(models[name]) for name in names]}
        for title, names in groups.items()
        if names
    ]


def row_of(model: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": model["name"],
        "url": model["admin_url"],
        "add_url": model["add_url"],
        "about": ABOUT.get(model["object_name"], ""),
    }
