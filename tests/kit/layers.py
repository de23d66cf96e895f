"""A network of equal layers, recorded without care, as text: there is much for passes to do.

Comes in: how many layers, and the name of the file that they were recorded from. Goes out: a module
with a func `@main` of 20 ops a layer and a loop, and a small func `@penalty`.
Never: a name for what the user did not name; most of the values have only a number.
"""

import re

WEIGHT, ROWS, COLUMN = "tensor<[256, 256], f32>", "tensor<[n, 256], f32>", "tensor<[n], f32>"
SCALAR, PIECE, LOOP_INDEX = "tensor<[], f32>", "tensor<[1, 256, 256], f32>", "tensor<[], i64>"
SLICED = "size = [1, 256, 256], step = [1, 1, 1]"
CONTRACTED = (
    "left_batch = [], right_batch = [], left_contract = [1], right_contract = [0], dtype = f32"
)

SOURCE = """\
import brimstone as bs

def main(x, weights):
    for weight in weights:
        product = (x * 1.0) @ weight.T.T
        shifted = product - product.max(1, keepdims=True)
        above = shifted.exp()
        share = above / shifted.exp().sum(1, keepdims=True)
        activity = share.tanh()  # nobody looks at this
        x = share + (1.0 - 1.0)

    # The sum of squares, <added> up "step by step" & slowly.

    start = (x * x).sum(1)
    def step(carried, part):
        return carried + part
    return bs.scan(step, start, start)


def penalty(v):
    doubled = v + v
    both = doubled * (v + v)
    return both
"""

# Of each op: its line in `SOURCE`, its result, what it does, its type.
LAYER = (
    (4, "piece", f"slice %weights {{start = [AT, 0, 0], {SLICED}}}", PIECE),
    (4, "weight", "reshape %piece {shape = [256, 256]}", WEIGHT),
    (5, "turned", "permute %weight {axes = [1, 0]}", WEIGHT),
    (5, "back", "permute %turned {axes = [1, 0]}", WEIGHT),
    (5, "one", "constant {value = 1.0}", SCALAR),
    (5, "ones", "broadcast %one {shape = [n, 256]}", ROWS),
    (5, "scaled", "multiply %x, %ones", ROWS),
    (5, "product", f"contract %scaled, %back {{{CONTRACTED}}}", ROWS),
    (6, "peak", "reduce_maximum %product {axes = [1]}", COLUMN),
    (6, "peaks", "broadcast %peak {shape = [n, 256], axes = [0]}", ROWS),
    (6, "shifted", "subtract %product, %peaks", ROWS),
    (7, "above", "exp %shifted", ROWS),
    (8, "below", "exp %shifted", ROWS),
    (8, "sum", "reduce_sum %below {axes = [1]}", COLUMN),
    (8, "sums", "broadcast %sum {shape = [n, 256], axes = [0]}", ROWS),
    (8, "share", "divide %above, %sums", ROWS),
    (9, "unread", "tanh %share", ROWS),
    (10, "zero", "subtract %one, %one", SCALAR),
    (10, "zeros", "broadcast %zero {shape = [n, 256]}", ROWS),
    (10, "out", "add %share, %zeros", ROWS),
)
NAMED = ("weight", "product", "shifted", "above", "share", "out")

END = f"""\
  %squared = tensor.multiply %X, %X : {ROWS} at FILE:14
  %start = tensor.reduce_sum %squared {{axes = [1]}} : {COLUMN} at FILE:14
  %total = tensor.loop [%start], %start {{trip = n}} \
(%step: {LOOP_INDEX}, %carried: {COLUMN}, %part: {SCALAR}) {{
    %spread = tensor.broadcast %part {{shape = [n]}} : {COLUMN} at FILE:16
    %added = tensor.add %carried, %spread : {COLUMN} at FILE:16
    yield %added at FILE:16
  }} : {COLUMN} at FILE:15
  return %total at FILE:17
}}

func @penalty(%v: tensor<[8], f32>) -> tensor<[8], f32> at FILE:20 {{
  %doubled = tensor.add %v, %v : tensor<[8], f32> at FILE:21
  %again = tensor.add %v, %v : tensor<[8], f32> at FILE:22
  %both = tensor.multiply %doubled, %again : tensor<[8], f32> at FILE:22
  return %both at FILE:23
}}
"""


def network(layers: int, file: str) -> str:
    """The text of a module with so many layers; `SOURCE` is what the lines of the file say."""
    stacked = f"tensor<[{layers}, 256, 256], f32>"
    arguments = f"(%x: {ROWS}, %weights: {stacked})"
    lines = [f"func @main<n: 1..65536>{arguments} -> {COLUMN} at FILE:3 {{"]
    names = {"x": "x", "weights": "weights"}
    number = 0
    for at in range(layers):
        for line, result, does, type_ in LAYER:
            named = re.sub(r"%(\w+)", lambda found: f"%{names[found[1]]}", does)
            names[result] = f"{result}_{at}" if result in NAMED else str(number)
            number += result not in NAMED
            op = named.replace("AT", str(at))
            lines.append(f"  %{names[result]} = tensor.{op} : {type_} at FILE:{line}")
        names["x"] = names["out"]
    text = "\n".join([*lines, END.replace("%X", f"%{names['x']}")])
    return text.replace("FILE", f'"{file}"')
