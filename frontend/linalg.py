"""`bs.linalg`: linear algebra, as the array API standard names it, and a little more.

Comes in: tensors whose last two axes are matrices; all axes before them count matrices. Goes out:
tensors, or named tuples of them.
"""

import sys
from typing import Any

from .functions.decompositions import (
    EighResult,
    EigResult,
    LUResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lu,
    qr,
    svd,
    svdvals,
)
from .functions.einsum import multi_dot
from .functions.equations import (
    SlogdetResult,
    det,
    inv,
    matrix_power,
    matrix_rank,
    pinv,
    slogdet,
    solve,
    solve_triangular,
)
from .functions.manipulation import matrix_transpose
from .functions.norms import cond, matrix_norm, norm, vector_norm
from .functions.products import cross, diagonal, kron, matmul, outer, tensordot, trace, vecdot

__all__ = [
    "EigResult", "EighResult", "LUResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky",
    "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "kron", "lu",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm",
    "outer",
    "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "tensordot", "trace",
    "vecdot", "vector_norm",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    from .elsewhere import refuse_name

    refuse_name("brimstone.linalg", name, sys.modules[__name__])
