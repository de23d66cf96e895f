"""Models in and out: weights in the files of other libraries.

Comes in: a path. Goes out: tensors, or a file.
Never: code out of a file, a name out of a file that is imported, or memory out of proportion to
what the file holds.
"""

from . import pytorch, safetensors, weights
from .errors import FileError, MismatchError, MissingTensor
from .files import load, open
from .stored import Reader, Stored

__all__ = [
    "FileError",
    "MismatchError",
    "MissingTensor",
    "Reader",
    "Stored",
    "load",
    "open",
    "pytorch",
    "safetensors",
    "weights",
]
