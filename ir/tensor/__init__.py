"""The `tensor` floor: pure operations on ranked tensors, each with its meaning and its rules."""

# pyright: reportUnusedImport=false
# Whoever imports the package finds every op by its name.

from .arg_reduce import ArgMaximum, ArgMinimum
from .attention import Attention
from .attention_backward import AttentionBackward
from .base import TensorOp
from .bits import BitAnd, BitNot, BitOr, BitXor, CountLeadingZeros, CountOnes, ShiftLeft, ShiftRight
from .collectives import (
    AllGather,
    AllReduce,
    AllToAll,
    AxisIndex,
    CollectivePermute,
    ReduceScatter,
    Reduction,
)
from .compare import Equal, IsFinite, IsNan, Less, LessEqual, NotEqual, Select
from .constants import Constant, Iota
from .contract import Contract
from .control import Call, Cond, Loop, While
from .convert import Bitcast, Cast, Complex, Conjugate, Imaginary, Real
from .convolve import Convolve
from .custom import Custom
from .elementwise import (
    Absolute,
    Add,
    Arctan2,
    Ceil,
    CopySign,
    Divide,
    Floor,
    Hypot,
    Maximum,
    Minimum,
    Multiply,
    Negate,
    NextAfter,
    Power,
    Remainder,
    RoundEven,
    Sign,
    Subtract,
    Truncate,
)
from .factor import Cholesky, Lu, Qr
from .host_call import HostCall
from .indexing import Combiner, Gather, Outside, Scatter
from .linear import Checkpoint, CustomVjp, LinearCall, StopGradient
from .random import RandomBits
from .reduce import ReduceAnd, ReduceMaximum, ReduceMinimum, ReduceOr, ReduceProduct, ReduceSum
from .scan import CumulativeMaximum, CumulativeMinimum, CumulativeProduct, CumulativeSum
from .shape import Dim
from .solve import Solve, TriangularSolve
from .sort import Sort
from .spectral import Eig, Eigh, Svd
from .transcendental import (
    Arccos,
    Arccosh,
    Arcsin,
    Arcsinh,
    Arctan,
    Arctanh,
    Cos,
    Cosh,
    CubeRoot,
    Digamma,
    Erf,
    Erfc,
    ErfInverse,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    LogGamma,
    ReciprocalSquareRoot,
    Sin,
    Sinh,
    SquareRoot,
    Tan,
    Tanh,
)
from .views import Broadcast, Flip, Permute, Reshape
from .windows import Concat, Pad, Slice
