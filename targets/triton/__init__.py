"""NVIDIA and AMD GPUs: funcs of the tile floor become Triton source, which Triton compiles.

Comes in: funcs of the tile floor. Goes out: readable Triton Python, binaries, launches.
Never: PyTorch, or a size of a program in the source; what Triton cannot do is refused, with the
reason. `compile` and `cuda` are imported where they are used: they load Triton and the driver.
"""

from .kernel import Kernel, Parameter, Role
from .legalise import legalise
from .printer import print_kernel, print_triton
from .writer import Refused

__all__ = ["Kernel", "Parameter", "Refused", "Role", "legalise", "print_kernel", "print_triton"]
