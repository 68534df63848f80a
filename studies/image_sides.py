"""The longest sides in which images are kept, in pixels."""

# Every image has the smallest, which features are computed from; existing data sets may have no other.
SMALLEST = 480
LARGER = (720, 960)
