"""Mistakes that people make, and what they are told.

Comes in: a call that must fail. Goes out: nothing; complains unless the error is a good one.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import brimstone as bs


class Mistake(NamedTuple):
    """A call, the error it raises, and words of the message."""

    call: Callable[[], Any]
    kind: type[BaseException]
    words: str


def check(mistake: Mistake) -> None:
    """Complain unless the call fails as it should, and the message names the user's line."""
    try:
        result = mistake.call()
        if isinstance(result, bs.Tensor):
            result.sync()
    except bs.BrimstoneError as error:
        assert isinstance(error, mistake.kind), repr(error)
        text = str(error)
        assert mistake.words in text, text
        file = Path(mistake.call.__code__.co_filename).name
        assert file in text, text
    else:
        raise AssertionError(f"nothing failed: {result!r:.80}")
