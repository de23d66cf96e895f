"""The dialects, from the top floor down. Importing this module declares every op.

Comes in: nothing. Goes out: each dialect's name with what it is about. Never: an op of its own.
"""

from . import func, loop, step, tensor, tile

DIALECTS = {
    "": "Ends of blocks",
    "tensor": "pure operations on ranked tensors",
    "step": "memory, launches and their order",
    "tile": "one program of a grid, on tiles of static size",
    "loop": "loops, vectors and buffers of one machine",
}

MODULES = {"": func, "tensor": tensor, "step": step, "tile": tile, "loop": loop}
