"""The numpy meaning of programs: the oracle of every pass test, and the `reference` target.

`frame` runs funcs, blocks and ops; `arrays` holds the rules of rounding and of accumulation. What
one op means stands with the op, as its `run`.
"""

from .frame import Frame, interpret

__all__ = ["Frame", "interpret"]
