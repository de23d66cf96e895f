"""Functions of other libraries that take any array of the standard, and how each fares with ours.

Comes in: nothing. Goes out: rows of a table, and the page `docs/interop.md` made of them, which
`python -m kit.interop` prints in the folder `tests`.
Never: an import of a library before a row of it is tried.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

RANDOM = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "x": RANDOM.standard_normal((8, 3)),
    "positive": RANDOM.random((8, 3)) + 0.1,
    "line": RANDOM.standard_normal(8),
    "long": RANDOM.standard_normal((30, 2)),
    "square": RANDOM.standard_normal((3, 3)) + 4 * np.eye(3),
    "cube": RANDOM.standard_normal((2, 3, 4)),
    "labels": np.array([0, 1, 0, 1, 1, 0, 1, 0]),
    "share": RANDOM.random(8) * 0.8 + 0.1,
    # Sums of their products are exact in any order, so what cancels is 0 on every device.
    "eighths": RANDOM.integers(1, 9, (8, 3)) / 8,
}


class Row(NamedTuple):
    """A function of a module, the names of arrays and other arguments it is tried with.

    `refused` says why it does not work, where it does not.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]
    refused: str = ""


def rows(module: str, names: str, *arguments: Any) -> list[Row]:
    """One row for each of some functions that are tried alike."""
    return [Row(module, name, arguments) for name in names.split()]


OWN_TYPES = "it knows arrays by a list of types; `einops.array_api` has the same functions"
TABLE = [
    Row("einops.array_api", "rearrange", ("cube", "a b c -> (b a) c")),
    Row("einops.array_api", "reduce", ("cube", "a b c -> a c", "mean")),
    Row("einops.array_api", "repeat", ("cube", "a b c -> a b c a2")),
    Row("einops", "rearrange", ("cube", "a b c -> (b a) c"), OWN_TYPES),
    Row("einops", "einsum", ("cube", "cube", "a b c, a b c -> a"), OWN_TYPES),
    *rows("scipy.special", "erf expit gammaln i0 ndtr log_ndtr logsumexp softmax log_softmax entr "
          "psi", "positive"),
    *rows("scipy.special", "xlogy betaln rel_entr gammainc", "positive", "positive"),
    *rows("scipy.special", "logit", "share"),
    *rows("scipy.stats", "gmean hmean kurtosis skew zscore sem describe variation iqr entropy",
          "positive"),
    *rows("scipy.stats", "skewtest kurtosistest normaltest", "long"),
    *rows("scipy.stats", "pearsonr", "line", "share"),
    *rows("scipy.stats", "ttest_ind", "x", "positive"),
    *rows("scipy.signal", "detrend hilbert", "x"),
    *rows("scipy.signal", "convolve fftconvolve oaconvolve", "line", "share"),
    *rows("scipy.fft", "fft ifft fftn rfft rfftn dct", "x"),
    *rows("scipy.cluster.vq", "whiten", "x"),
    *rows("scipy.cluster.vq", "vq", "x", "x"),
    *rows("scipy.integrate", "trapezoid simpson cumulative_trapezoid", "line"),
    *rows("scipy.linalg", "det inv", "square"),
    *rows("sklearn.metrics", "accuracy_score zero_one_loss confusion_matrix f1_score "
          "precision_score", "labels", "labels"),
    *rows("sklearn.metrics", "mean_squared_error mean_absolute_error r2_score max_error "
          "mean_pinball_loss", "line", "share"),
    *rows("sklearn.metrics", "log_loss", "labels", "share"),
    Row("sklearn.metrics", "roc_auc_score", ("labels", "share"),
        "it gives `n` of `diff` by place, which the standard allows by name only"),
    *rows("sklearn.metrics.pairwise", "euclidean_distances", "eighths", "eighths"),
    *rows("sklearn.metrics.pairwise", "cosine_similarity rbf_kernel linear_kernel "
          "polynomial_kernel cosine_distances chi2_kernel", "positive", "positive"),
    *rows("sklearn.preprocessing", "maxabs_scale minmax_scale normalize", "x"),
    Row("sklearn.preprocessing", "scale", ("x",),
        "it is written for numpy, and changes what numpy sees in place; `StandardScaler` works"),
]  # fmt: skip


def call(row: Row, make: Any) -> Any:
    """What a function makes of arrays that `make` turns into a library's own."""
    given = [
        make(ARRAYS[each]) if isinstance(each, str) and each in ARRAYS else each
        for each in row.arguments
    ]
    if row.name == "repeat":
        return import_module(row.module).repeat(*given, a2=2)
    return getattr(import_module(row.module), row.name)(*given)


def leaves(result: Any) -> list[Any]:
    """The arrays and numbers of a result, on the host."""
    if isinstance(result, tuple):
        return [leaf for each in result for leaf in leaves(each)]
    if hasattr(result, "statistic"):
        return [*leaves(result.statistic), *leaves(result.pvalue)]
    return [np.asarray(result)]


def page(table: Sequence[Row] = TABLE) -> str:
    """The table as a document."""
    lines = [
        "# Brimstone's tensors in other libraries",
        "",
        "Written by `python -m kit.interop > ../docs/interop.md` in the folder `tests`; do not",
        "edit. `tests/frontend/test_interop.py` tries each function with tensors, and with numpy's",
        "arrays, and compares (einops 0.8, SciPy 1.17 with `SCIPY_ARRAY_API=1`, scikit-learn 1.9",
        "with `array_api_dispatch=True`).",
        "",
        "| function | works | why not |",
        "|---|---|---|",
    ]
    for row in table:
        works = "no" if row.refused else "yes"
        lines.append(f"| `{row.module}.{row.name}` | {works} | {row.refused} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
