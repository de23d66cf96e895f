"""Functions of models: what layers do, for those who keep no parameters or keep their own."""

from .dropout import alpha_dropout, dropout, feature_dropout
from .embedding import embedding
from .normalisation import (
    batch_norm,
    batch_statistics,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from .pooling import adaptive_max_pool, max_pool, mean_pool
