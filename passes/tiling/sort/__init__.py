"""Sorts: tensors put in the order of some of them, or the first few of that order.

Comes in: a kernel of one `tensor.sort`, perhaps with counters that are sorted along. Goes out: its
stages.
Never: an order other than the op's, in which equal keys keep theirs.

`job` says what is sorted, `line` what a program has of it; `keys` makes numbers of elements, and
`digits` sorts by one digit of them at a time. `short` sorts lines that are tiles, `alone` others,
`long` those that programs share. `best` finds what may be among the first few of a line, and
`limit` how far down. `plan` chooses.
"""

from .plan import sort_of, sort_stages

__all__ = ["sort_of", "sort_stages"]
