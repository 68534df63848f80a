"""The ways to predict people's answers, as tables and figures name them."""

from teaching.engine.bank import FAMILIES

from .people_scores import CONSTANT, CURVE

# What teachers could go by, in the order of the figures.
TEACHERS = {
    "harmonic": "harmonic",
    "mended": "harmonic, mended",
    "tracked": "tracked",
    "running": "running accuracy",
}
WAYS = TEACHERS | {CURVE: "learning curve of others", CONSTANT: "best constant"}
FAMILY_NAMES = [family.name for family in FAMILIES]
SINGLES = {family.name: f"{family.name}: {family.title}" for family in FAMILIES}
EVERY = WAYS | SINGLES
