"""Kernels of tiles become programs of loops and short vectors, as a CPU runs them.

Comes in: a func of the `tile` floor, a machine. Goes out: a func of the `loop` floor, or `Refused`.
Never: the text of a target.
"""

from .bind import bind_cpu
from .refused import Refused

__all__ = ["Refused", "bind_cpu"]
