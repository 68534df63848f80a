"""The figures of a study, from numbers to shapes: the same numbers give the same drawing to the last digit."""

from .accuracies import ArmAccuracies, accuracy_plot
from .confusion import ArmConfusion, confusion_plot
from .curves import ArmCurves, StepAccuracy, curve_plot
from .distributions import ArmValues, box_plot, histogram
from .scatter import ArmPoints, scatter
from .times import ArmTimes, times_plot

__all__ = [
    "ArmAccuracies",
    "ArmConfusion",
    "ArmCurves",
    "ArmPoints",
    "ArmTimes",
    "ArmValues",
    "StepAccuracy",
    "accuracy_plot",
    "box_plot",
    "confusion_plot",
    "curve_plot",
    "histogram",
    "scatter",
    "times_plot",
]
