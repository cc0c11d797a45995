"""Computes how far to open the vents."""

PERCENT_A_DEGREE = 40


def opening(inside: float, warmest: float) -> int:
    """Returns the opening in percent."""
    return round((inside - warmest) * PERCENT_A_DEGREE)
