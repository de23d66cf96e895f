"""Attention and its gradients: the scores are made block by block, and never reach memory.

Comes in: a kernel func of the tensor floor that consists of one `tensor.attention`, or of one
`tensor.attention_backward`. Goes out: `Stages`.
Never: a number of a machine; the chooser says how large blocks are.

`handed` says what a kernel reads and writes, `heads` which sizes there are and how operands are
packed; a `program` works on some rows of one head. `scores` makes blocks of scores, which `change`
changes as the region says; `diagonal` sees that nobody looks at some of them, and `reach` which
these are. `sums` adds up rows of values. `forward` and `backward` write the kernels, and `plan`
puts them together.
"""

from .plan import attention_backward, attention_forward

__all__ = ["attention_backward", "attention_forward"]
