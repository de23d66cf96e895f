"""What a pass that lowers to the `loop` floor may know of a CPU.

Comes in: nothing; `targets/llvm/machines.py` lists the models. Goes out: `Machine`, plain numbers.
Never: the text of a target, or a size of any program.
"""

from dataclasses import dataclass

from ..ir.dtypes import DType


@dataclass(frozen=True, slots=True)
class Machine:
    """One kind of CPU core.

    `vector_bytes` is the width of a register for short vectors, of which there are `registers`;
    `fused` says whether it multiplies and adds with one rounding in one instruction; `masked`
    whether loads and stores of a part of a vector cost no more than whole ones. `level1` and
    `level2` are the bytes of a core's own caches; `shared` those of the next one that a core may
    fill, where that one is as fast as products need, else 0.
    """

    name: str
    vector_bytes: int
    registers: int
    fused: bool
    masked: bool
    level1: int
    level2: int
    shared: int = 0

    def lanes(self, dtype: DType) -> int:
        """How many numbers of a dtype a register holds; narrow floats are computed as f32."""
        return max(self.vector_bytes // max(dtype.accumulator.itemsize, dtype.itemsize), 1)
