"""Attentions with all kinds of changes of the scores, as funcs of the tensor floor.

Comes in: a name of `CHANGES`, a dtype. Goes out: the func, arguments of any sizes, and a schedule
under which small sizes reach all loops.
Never: a test.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from brimstone.ir import verify
from brimstone.ir.dtypes import BY_NAME
from brimstone.ir.func import Func
from brimstone.ir.parser import parse

SCHEDULE = {
    "m": 4, "n": 8, "k": 4, "keys": 16, "queries": 8, "rows": 2, "unroll": 2, "kept": 8,
    "chunk": 8, "alone": 64, "few": 2, "beside": 2, "together": 2, "lines": 2,
    "dots": 3, "along": 4, "wide": 16, "low": 2, "broad": 16, "near": 64, "much": 3, "apart": 1,
    "some": 6, "many": 12, "deep": 7, "part": 2,
}  # fmt: skip
SIZES: list[dict[str, int]] = [
    {"b": 1, "g": 2, "t": 9, "s": 17, "d": 5, "e": 9},
    {"b": 2, "g": 1, "t": 17, "s": 8, "d": 8, "e": 4},
    {"b": 1, "g": 1, "t": 1, "s": 7, "d": 1, "e": 1},
    {"b": 1, "g": 1, "t": 7, "s": 1, "d": 4, "e": 3},
    {"b": 1, "g": 1, "t": 3, "s": 0, "d": 2, "e": 2},
    {"b": 1, "g": 1, "t": 0, "s": 3, "d": 2, "e": 2},
    {"b": 1, "g": 1, "t": 2, "s": 2, "d": 0, "e": 0},
    {"b": 0, "g": 1, "t": 2, "s": 2, "d": 1, "e": 1},
]

_HEAD = """
func @attend<b: 0..64, g: 1..64, t: 0..4096, s: 0..4096, d: 0..512, e: 0..512>(
    %q: tensor<[b, HEADS, t, d], DTYPE>, %k: tensor<[b, g, s, d], DTYPE>,
    %v: tensor<[b, g, s, e], DTYPE>TAKEN)
    -> (tensor<[b, HEADS, t, e], DTYPE>, tensor<[b, HEADS, t], WIDE>, tensor<[b, HEADS, t], WIDE>) {
  %o, %l, %r = tensor.attention %q, %k, %vGIVEN {scale = 0.5} (%x: SCORESBOUND) {
BODY    yield %y
  } : tensor<[b, HEADS, t, e], DTYPE>, tensor<[b, HEADS, t], WIDE>, tensor<[b, HEADS, t], WIDE>
  return %o, %l, %r
}
"""
_LEAST = """    %least = tensor.constant {value = -inf} : tensor<[], WIDE>
    %none = tensor.broadcast %least {shape = SHAPE, axes = []} : SCORES
"""
_CAUSAL = (
    _LEAST
    + """    %row = tensor.iota {shape = SHAPE, axis = 2, dtype = i64} : PLACES
    %column = tensor.iota {shape = SHAPE, axis = 3, dtype = i64} : PLACES
    %by = tensor.broadcast %c {shape = SHAPE, axes = []} : PLACES
    %last = tensor.add %row, %by : PLACES
    %seen = tensor.less_equal %column, %last : tensor<SHAPE, bool>
"""
)

CHANGES: dict[str, tuple[list[str], str]] = {
    "none": ([], "    %y = tensor.negate %x : SCORES\n"),
    "causal": (
        ["tensor<[], i64>"], _CAUSAL + "    %y = tensor.select %seen, %x, %none : SCORES\n"
    ),
    "mask": (
        ["tensor<[t, s], bool>"],
        _LEAST
        + "    %seen = tensor.broadcast %c {shape = SHAPE, axes = [2, 3]} : tensor<SHAPE, bool>\n"
        + "    %y = tensor.select %seen, %x, %none : SCORES\n",
    ),
    "bias": (["SCORES"], "    %y = tensor.add %x, %c : SCORES\n"),
    "slopes": (
        ["tensor<[HEADS, 1, 1], WIDE>"],
        """    %row = tensor.iota {shape = SHAPE, axis = 2, dtype = WIDE} : SCORES
    %column = tensor.iota {shape = SHAPE, axis = 3, dtype = WIDE} : SCORES
    %far = tensor.subtract %column, %row : SCORES
    %steep = tensor.broadcast %c {shape = SHAPE, axes = [1, 2, 3]} : SCORES
    %product = tensor.multiply %far, %steep : SCORES
    %y = tensor.add %x, %product : SCORES
""",
    ),
    "cap": (
        ["tensor<[], i64>", "SCORES", "tensor<[], WIDE>"],
        _CAUSAL
        + """    %most = tensor.broadcast %c2 {shape = SHAPE, axes = []} : SCORES
    %part = tensor.divide %x, %most : SCORES
    %bent = tensor.tanh %part : SCORES
    %capped = tensor.multiply %bent, %most : SCORES
    %added = tensor.add %capped, %c1 : SCORES
    %y = tensor.select %seen, %added, %none : SCORES
""",
    ),
}  # fmt: skip


def attention(change: str, dtype: str = "f64", shared: int = 1, ones: str = "") -> Func:
    """The func; `shared` heads of queries share one of keys, and some sizes are known to be 1."""
    types, body = CHANGES[change]
    names = [f"%c{place or ''}" for place in range(len(types))]
    given = [f"%given{place}" for place in range(len(types))]
    texts = {
        "TAKEN": listed(given, types),
        "BOUND": listed(names, types),
        "GIVEN": "".join(f", {name}" for name in given),
        "BODY": body,
        "SCORES": "tensor<SHAPE, WIDE>",
        "PLACES": "tensor<SHAPE, i64>",
        "SHAPE": "[b, HEADS, t, s]",
        "HEADS": f"{shared}*g" if shared > 1 else "g",
        "DTYPE": dtype,
        "WIDE": BY_NAME[dtype].accumulator.name,
    }
    text = _HEAD
    for name, by in texts.items():
        text = text.replace(name, by)
    for name in ones:
        text = re.sub(rf"(?<=[\[ ]){name}(?=[,\]])", "1", text)
    module = parse(text, "attention.ir")
    verify(module)
    return module.main


def listed(names: list[str], types: list[str]) -> str:
    """Further arguments."""
    return "".join(f", {name}: {type_}" for name, type_ in zip(names, types, strict=True))


def arguments(func: Func, sizes: Mapping[str, int], shared: int = 1, seed: int = 0) -> list[Any]:
    """Random arguments; the first query sees nothing of what is masked."""
    rng = np.random.default_rng(seed)
    known = {**sizes, f"{shared}*g": shared * sizes["g"]}
    made: list[Any] = []
    for value in func.arguments:
        shape = [size if isinstance(size, int) else known[str(size)] for size in value.type.shape]
        dtype = value.dtype.storage
        if value.dtype.name == "i64":
            made.append(np.asarray(sizes["s"] - sizes["t"] - 1, dtype))
        elif value.dtype.name == "bool":
            made.append(rng.uniform(size=shape) < 0.6)
            made[-1][:1] = False
        else:
            made.append(np.asarray(rng.standard_normal(shape) + 0.1).astype(dtype))
    return made
