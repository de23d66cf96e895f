"""Contractions: sums of products, of which a matrix product is one.

Comes in: a kernel func of the tensor floor that consists of one contraction, maps that make its
operands, and maps that follow it. Goes out: `Stages`.
Never: a number of a machine; the chooser says how large blocks are.

`matrix` sees operands as matrices, or they are `computed`; `packing` copies them into panels, which
`product` multiplies; an `ending` says what becomes of the sums; `maps` helps it and `computed`.
Where rows are some, each program packs the columns that it makes (`near`).
Where the product is small, one program does both (`alone`), or one for some columns, where there is
much to multiply, or one for each chunk of k, and `adding` adds their parts; where there are few
rows, the other operand is not packed at all (`few`, and `dots` where both lie along k).
`funcs` has what is better said with tensors, and `plan` chooses.
"""

from .plan import contraction_of, tile_contraction

__all__ = ["contraction_of", "tile_contraction"]
