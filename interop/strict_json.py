"""JSON out of files that nobody vouches for.

Comes in: bytes. Goes out: what they say, in Python's own types.
Never: a key twice in one object, text that is not Unicode, NaN, or more values than a file of
weights has: what Python makes of `[[],[],[]` takes twenty times the room.
"""

import json
from typing import Any, NoReturn

from .errors import Refused, shown

MOST_BYTES = 100_000_000
"""As many as the library of safetensors allows a header."""
MOST_VALUES = 4_000_000
"""Some 300,000 tensors; the largest models have a third of them."""


def read_json(text: memoryview, what: str) -> Any:
    """The value that `text` stands for; `what` names it in errors."""
    if len(text) > MOST_BYTES:
        raise Refused(f"{what} has {len(text)} bytes, more than {MOST_BYTES}")
    raw = bytes(text)
    if sum(map(raw.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Refused(f"{what} holds more than {MOST_VALUES} values")
    try:
        return json.loads(raw.decode(), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise Refused(f"{what} is nested too deeply") from None
    except ValueError as problem:
        raise Refused(f"{what} is no JSON: {problem}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, each of whose keys is there once and can be printed."""
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise Refused(f"the key {shown(twice)} is there twice")
    for key in made:
        try:
            key.encode()
        except UnicodeEncodeError:
            raise Refused(f"the key {shown(key)} is no Unicode") from None
    return made


def _refuse_constant(constant: str) -> NoReturn:
    raise Refused(f"{constant} is no JSON")
