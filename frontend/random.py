"""Random numbers: `bs.random`. A sample is a function of its key, and of nothing else.

What users import; the functions are those of `functions/`, which take a key first. Without one
they take the next of the default generator, which `manual_seed` begins again.
"""

import sys
from typing import Any

from .functions.choices import categorical, choice, permutation, shuffle
from .functions.keys import fold_in, key, manual_seed, split
from .functions.rejection import beta, chisquare, dirichlet, gamma, loggamma, poisson, student_t
from .functions.sampling import (
    bernoulli,
    bits,
    cauchy,
    exponential,
    geometric,
    gumbel,
    laplace,
    logistic,
    lognormal,
    normal,
    pareto,
    rademacher,
    randint,
    rayleigh,
    truncated_normal,
    uniform,
    weibull,
)
from .generator import Generator

__all__ = [
    "Generator",
    "bernoulli",
    "beta",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "fold_in",
    "gamma",
    "geometric",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "manual_seed",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "shuffle",
    "split",
    "student_t",
    "truncated_normal",
    "uniform",
    "weibull",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    from .elsewhere import refuse_name

    refuse_name("brimstone.random", name, sys.modules[__name__])
