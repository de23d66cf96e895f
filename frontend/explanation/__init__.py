"""What a compiled function is and does: its IR, and its kernels in words, as text and as a page.

Comes in: what `explain` has found. Goes out: things to print.
Never: a computation, or a step compiled.

`labels` says what people call the arguments; `kernels` and `steps` put what targets and the
runtime tell into the sizes of a call; an `explanation` holds it, `words` are its phrases,
`text` and `page` show it. `lowered` is the function as IR.
"""

from .explanation import Explanation, Part
from .lowered import Lowered

__all__ = ["Explanation", "Lowered", "Part"]
