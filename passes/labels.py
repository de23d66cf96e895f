"""What loops of tiles are called that schedules, and what binds them, speak of.

Comes in: a number. Goes out: a label.
Never: a loop.
"""


def level_name(number: int) -> str:
    """The label of the loop in which rows pass for the so-manyth time, counted from 0."""
    return f"level{number}"
