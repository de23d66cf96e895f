"""A network of equal layers, recorded without care, as text: there is much for passes to do.

Comes in: how many layers, and the name of the file that they were recorded from. Goes out: a module
with a func `@main` of 20 ops a layer and 8 more, and a small func `@penalty`.
Never: a name for what the user did not name; half of the values have only a number.
"""

SHAPE = "tensor<[n, 256], f32>"

LAYER = """\
  %{w} = tensor.slice %weights {{start = [{at}, 0, 0], size = [1, 256, 256], step = [1, 1, 1]}} : tensor<[1, 256, 256], f32> at "{file}":{line0}
  %{weight} = tensor.reshape %{w} {{shape = [256, 256]}} : tensor<[256, 256], f32> at "{file}":{line0}
  %{t} = tensor.permute %{weight} {{axes = [1, 0]}} : tensor<[256, 256], f32> at "{file}":{line1}
  %{u} = tensor.permute %{t} {{axes = [1, 0]}} : tensor<[256, 256], f32> at "{file}":{line1}
  %{one} = tensor.constant {{value = 1.0}} : tensor<[], f32> at "{file}":{line1}
  %{ones} = tensor.broadcast %{one} {{shape = [n, 256]}} : {shape} at "{file}":{line1}
  %{scaled} = tensor.multiply %{x}, %{ones} : {shape} at "{file}":{line1}
  %{product} = tensor.contract %{scaled}, %{u} {{left_batch = [], right_batch = [], left_contract = [1], right_contract = [0], dtype = f32}} : {shape} at "{file}":{line1}
  %{peak} = tensor.reduce_maximum %{product} {{axes = [1]}} : tensor<[n], f32> at "{file}":{line2}
  %{peaks} = tensor.broadcast %{peak} {{shape = [n, 256], axes = [0]}} : {shape} at "{file}":{line2}
  %{shifted} = tensor.subtract %{product}, %{peaks} : {shape} at "{file}":{line2}
  %{above} = tensor.exp %{shifted} : {shape} at "{file}":{line3}
  %{below} = tensor.exp %{shifted} : {shape} at "{file}":{line4}
  %{sum} = tensor.reduce_sum %{below} {{axes = [1]}} : tensor<[n], f32> at "{file}":{line4}
  %{sums} = tensor.broadcast %{sum} {{shape = [n, 256], axes = [0]}} : {shape} at "{file}":{line4}
  %{share} = tensor.divide %{above}, %{sums} : {shape} at "{file}":{line4}
  %{unread} = tensor.tanh %{share} : {shape} at "{file}":{line5}
  %{zero} = tensor.subtract %{one}, %{one} : tensor<[], f32> at "{file}":{line6}
  %{zeros} = tensor.broadcast %{zero} {{shape = [n, 256]}} : {shape} at "{file}":{line6}
  %{out} = tensor.add %{share}, %{zeros} : {shape} at "{file}":{line6}
"""

MAIN = """\
func @main<n: 1..65536>(%x: {shape}, %weights: tensor<[{layers}, 256, 256], f32>) -> tensor<[n], f32> at "{file}":3 {{
{body}\
  %squared = tensor.multiply %{x}, %{x} : {shape} at "{file}":14
  %start = tensor.reduce_sum %squared {{axes = [1]}} : tensor<[n], f32> at "{file}":14
  %total = tensor.loop [%start], %start {{trip = n}} (%step: tensor<[], i64>, %carried: tensor<[n], f32>, %part: tensor<[], f32>) {{
    %spread = tensor.broadcast %part {{shape = [n]}} : tensor<[n], f32> at "{file}":16
    %added = tensor.add %carried, %spread : tensor<[n], f32> at "{file}":16
    yield %added at "{file}":16
  }} : tensor<[n], f32> at "{file}":15
  return %total at "{file}":17
}}

func @penalty(%v: tensor<[8], f32>) -> tensor<[8], f32> at "{file}":20 {{
  %doubled = tensor.add %v, %v : tensor<[8], f32> at "{file}":21
  %again = tensor.add %v, %v : tensor<[8], f32> at "{file}":22
  %both = tensor.multiply %doubled, %again : tensor<[8], f32> at "{file}":22
  return %both at "{file}":23
}}
"""

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

NAMED = ("weight", "product", "shifted", "above", "share", "out")
FIELDS = (
    "w", "weight", "t", "u", "one", "ones", "scaled", "product", "peak", "peaks", "shifted",
    "above", "below", "sum", "sums", "share", "unread", "zero", "zeros", "out",
)  # fmt: skip
FIRST_LINE = 4


def network(layers: int, file: str) -> str:
    """The text of a module with `layers` layers; `SOURCE` is what its lines say."""
    lines = {f"line{offset}": FIRST_LINE + offset for offset in range(7)}
    body, number, x = "", 0, "x"
    for at in range(layers):
        names: dict[str, str] = {}
        for field in FIELDS:
            names[field] = f"{field}_{at}" if field in NAMED else str(number)
            number += field not in NAMED
        body += LAYER.format(at=at, file=file, shape=SHAPE, x=x, **names, **lines)
        x = names["out"]
    return MAIN.format(shape=SHAPE, layers=layers, body=body, x=x, file=file)
