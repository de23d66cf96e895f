"""Functions of models: what layers do, for those who keep no parameters or keep their own."""

import sys
from typing import NoReturn

from ...frontend.elsewhere import refuse_name
from .deformed import deform_conv2d
from .distance import cosine_similarity, pairwise_distance
from .dropout import alpha_dropout, dropout, feature_dropout
from .embedding import embedding
from .interpolation import interpolate
from .linear import linear
from .normalisation import (
    batch_norm,
    batch_statistics,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from .pixels import pixel_shuffle, pixel_unshuffle
from .pooling import adaptive_max_pool, max_pool, mean_pool
from .windows import fold, unfold


def __getattr__(name: str) -> NoReturn:
    """Say what stands one level above, such as losses and activations."""
    refuse_name(__name__, name, sys.modules[__name__.rpartition(".")[0]])
