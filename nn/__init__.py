"""Models: modules, losses, initialisers. `nn.Module` is where to begin."""

from .context import Context, inference, is_training, next_key, training
from .initialisers import (
    Constant,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Ones,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    Zeros,
)
from .layers.linear import Identity, Linear, Sequential
from .module import Buffer, FrozenError, Module
