"""What a func does, apart from what things are called.

Comes in: a func. Goes out: a name that is the same for all funcs which do the same.
Never: a proof: funcs of different texts may do the same, and have different names.
"""

import re
from hashlib import sha256

from ..ir.func import Func
from ..ir.printer import print_func

_VALUE = re.compile(r"%\w+")
_HEAD = re.compile(r"@\w+(<[^(]*>)?")


def named_by_meaning(func: Func, bounded: bool = True) -> str:
    """A name that funcs share if they differ in names alone: theirs, of their sizes, of values. If
    not `bounded`, the bounds of sizes may differ too."""
    text = print_func(func)
    sizes = {symbol.name: f"size{place}" for place, symbol in enumerate(func.symbols)}
    if sizes:
        either = "|".join(map(re.escape, sizes))
        text = re.sub(rf"(?<![\w%@])({either})(?!\w)", lambda found: sizes[found[0]], text)
    values: dict[str, str] = {}
    text = _VALUE.sub(lambda found: values.setdefault(found[0], f"%{len(values)}"), text)
    text = text.replace(f"@{func.name}", "", 1) if bounded else _HEAD.sub("", text, count=1)
    return f"kernel_{sha256(text.encode()).hexdigest()[:32]}"
