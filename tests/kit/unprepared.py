"""A process in which no recording has been made ready to run yet.

Comes in: a test. Goes out: nothing; what other tests have left there is set aside for this one.
Never: machine code, which stays.
"""

from typing import Any

import pytest

import brimstone as bs
from brimstone.frontend import alike, cuts, force, ready
from brimstone.frontend.prefixes import Prefixes
from brimstone.ir.shared.cache import Cache


def nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget all steps until the test ends."""
    bs.sync()  # what is still pending would be computed along
    compiled = Prefixes()
    for module in (cuts, force):
        monkeypatch.setattr(module, "COMPILED", compiled)
    for module, table in ((ready, "_STEPS"), (ready, "_ALIKE"), (alike, "_KNOWN")):
        monkeypatch.setattr(module, table, Cache[Any, Any](4096))
