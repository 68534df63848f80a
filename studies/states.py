"""The states of a study: what each means for workers, and which may follow which."""

from dataclasses import dataclass

from .models import Study

State = Study.State

MEANING: dict[str, str] = {
    State.DRAFT: "Nobody can begin yet. You can try every stage yourself.",
    State.PILOT: "The link lets people in as pilots: they take up no places and are left out of the results.",
    State.OPEN: "The link lets people in, and they count.",
    State.PAUSED: "Nobody new can begin for now. Those who have begun can finish.",
    State.CLOSED: "The study has ended. Nobody new can begin; those who have begun can finish.",
}


@dataclass(frozen=True)
class Move:
    """A state that may follow, under the name of its button."""

    state: str
    name: str
    sentence: str


_OPEN = "People who use the link from now on count. Their settings are frozen as a version."
_CLOSE = "The link says that the study has ended. Those who have begun can finish."

MOVES: dict[str, tuple[Move, ...]] = {
    State.DRAFT: (
        Move(
            State.PILOT, "Begin a pilot", "The link works; people who use it are marked as pilots."
        ),
        Move(State.OPEN, "Open the study", _OPEN),
    ),
    State.PILOT: (
        Move(State.OPEN, "Open the study", f"{_OPEN} Pilots who have begun stay pilots."),
        Move(State.DRAFT, "Back to draft", "The link stops working. Pilots can finish."),
    ),
    State.OPEN: (
        Move(State.PAUSED, "Pause", "Nobody new can begin until you open the study again."),
        Move(State.CLOSED, "Close", _CLOSE),
    ),
    State.PAUSED: (
        Move(State.OPEN, "Open again", "The link lets people in again."),
        Move(State.CLOSED, "Close", _CLOSE),
    ),
    State.CLOSED: (Move(State.OPEN, "Open again", "The link lets people in again."),),
}


def may_follow(state: str, new: str) -> bool:
    return any(move.state == new for move in MOVES[state])
