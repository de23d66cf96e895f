"""Safetensors: `interop.safetensors.load(path)`, `save(path, tensors)`, and `open(path)`.

A file is eight bytes that say how long the header is, the header, which is JSON, and the elements
of all tensors, one after the other. What we write has the bytes that the format's own library
would write.
"""

from .reader import load, open
from .writer import save

__all__ = ["load", "open", "save"]
