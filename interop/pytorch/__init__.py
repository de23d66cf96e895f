"""PyTorch's files: `interop.pytorch.load(path)` and `open(path)`, without PyTorch.

Such a file is a pickle, which is a program, beside the bytes of tensors. A machine of our own runs
the few opcodes that weights are made of, and looks up the few names in a table; all else is refused
and nothing is run.
"""

from .reader import load, open

__all__ = ["load", "open"]
