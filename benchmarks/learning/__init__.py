"""Models that learn in Brimstone and in PyTorch: what rows, curves and profiles of training share.

`case` says what such a model is; `gpt`, `digits` and `mlp` are the models, `peers` PyTorch's, and
`trainers` makes steps of them.
"""

from collections.abc import Callable, Sequence

from benchmarks.learning import digits, gpt, mlp
from benchmarks.learning.case import Case
from benchmarks.shapes import SHAPES

CASES: dict[str, Callable[..., Case]] = {"gpt": gpt.case, "cnn": digits.case, "mlp": mlp.case}
SIZES = {"gpt": "transformer_cpu", "cnn": "digits_cnn", "mlp": "mlp"}
"""What their sizes are called in `shapes.json`."""


def cases(names: Sequence[str] = (), small: bool = False) -> dict[str, Case]:
    """Those with these names, or all; at sizes of `shapes.json`, real or small ones for trials."""
    suffix = "_small" if small else ""
    wanted = [name for name in CASES if not names or name in names]
    return {name: CASES[name](**SHAPES[SIZES[name] + suffix]) for name in wanted}
