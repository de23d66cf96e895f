"""The typed SSA IR: a module of funcs, as text and as objects, and what its ops mean in numpy.

`dialects` lists the floors (`tensor`, `step`, `tile`, `loop`); `declare` says how an op is
declared, `builder` makes ops, `rewriter` changes them, `verifier` checks them, `printer` and
`parser` turn them into text and back, `interpreter` runs them.
"""

from .builder import Builder
from .errors import ExecutionError, IRError, ParseError, RewriteError, VerifyError
from .func import Func, Module, Return, Yield
from .parser import parse
from .printer import print_func, print_module, print_op
from .rewriter import Journal, Rewriter, Rules, apply, rewrite
from .verifier import verify

__all__ = [
    "Builder", "ExecutionError", "Func", "IRError", "Journal", "Module", "ParseError", "Return",
    "RewriteError", "Rewriter", "Rules", "VerifyError", "Yield", "apply", "parse", "print_func",
    "print_module", "print_op", "rewrite", "verify",
]  # fmt: skip
