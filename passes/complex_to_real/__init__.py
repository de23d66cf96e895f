"""Complex numbers as pairs of real ones, before fusion, which knows no others.

Comes in: a func of the tensor floor, and later the step that was made of it. Goes out: the func on
real tensors, which takes both parts of a complex argument and returns a complex result with a last
axis of 2 more; and the step, which takes arguments apart, and shows such results as complex.
Never: a part of it: a func stays what it is where one op of complex numbers has no rule here.

`func` rewrites the func by the `rules` of its ops, `regions` does so in loops and branches, and
`step` sees to what stands around its kernels. `functions` says which formula is which op's, and
`loops` what products of many stand for; the other files are formulas, of `parts`.
"""

from .func import complex_to_real, names_of_parts
from .step import seen_as_complex

__all__ = ["complex_to_real", "names_of_parts", "seen_as_complex"]
