"""Why two kernels stay two: a value that is false, and says why.

Comes in: a reason in plain words. Goes out: a `Refuse`, for whoever asked and for the report.
Never: a decision.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refuse:
    """A no and its reason, which speaks of the later of two kernels."""

    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.reason
