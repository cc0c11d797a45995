"""How far the vents are to be opened."""

PERCENT_A_DEGREE = 40


def opening(inside: float, warmest: float) -> int:
    """In percent: more, the warmer it is than it may be."""
    return round((inside - warmest) * PERCENT_A_DEGREE)
