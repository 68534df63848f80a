"""The figures of a study, from numbers to shapes: the same numbers give the same drawing to the last digit."""
