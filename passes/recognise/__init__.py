"""Attention, found in code that is written out: softmax(change(query · keyᵀ)) · value.

Comes in: a func as it was recorded, before it is differentiated. Goes out: the func in which one
`tensor.attention` stands for such a chain, so that no score reaches memory, forward or backward.
Never: another result, but for the order in which numbers are added and divided; so a query that may
attend to nothing is NaN, as a softmax of nothing but -inf is. But where a mask says that no key
comes after its query, a NaN or an infinity behind the diagonal may be seen or not: written out, it
is multiplied by 0.

`softmax` finds the chain, `heads` says which of its axes are heads, `score` writes the region, and
`views` looks through what only moves or repeats numbers.
"""

from .recognise import Miss, missed, recognise

__all__ = ["Miss", "missed", "recognise"]
