"""Modules that are made of their annotations, as type checkers see them.

Comes in: a class with annotations. Goes out: a module whose `__init__` is that of a dataclass.
Never: anything that `Module` does not do; only what type checkers know of it is more.
"""

from __future__ import annotations

from dataclasses import field
from typing import dataclass_transform

from .module import Module


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class Record(Module):
    """A module made of its annotations, which has no `__init__` of its own.

    Any module may be made so. A type checker cannot tell from the annotations of a module whether
    those below it have an `__init__`; below a `Record`, it takes them for what the module is given.
    """
