"""Models: modules, losses, initialisers. `nn.Module` is where to begin."""

import sys
from typing import NoReturn

from ..frontend.elsewhere import refuse_name
from . import functions
from .activations.clipped import (
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    ReLU6,
    hardsigmoid,
    hardswish,
    hardtanh,
    relu6,
)
from .activations.gates import GLU, SwiGLU, glu
from .activations.normalised import LogSoftmax, Softmax, Softmin, softmin
from .activations.rectifiers import (
    CELU,
    ELU,
    SELU,
    LeakyReLU,
    PReLU,
    ReLU,
    RReLU,
    Threshold,
    ThresholdedReLU,
    celu,
    prelu,
    rrelu,
    selu,
    threshold,
)
from .activations.shrinks import (
    Hardshrink,
    Shrink,
    Softshrink,
    Tanhshrink,
    hardshrink,
    shrink,
    softshrink,
    tanhshrink,
)
from .activations.smooth import (
    GELU,
    LogSigmoid,
    Mish,
    Sigmoid,
    SiLU,
    Softplus,
    Softsign,
    Tanh,
    mish,
    softsign,
)
from .attention.alibi import alibi_bias
from .attention.cache import KeyValueCache
from .attention.grouped import CrossAttention, GroupedQueryAttention
from .attention.multi_head import MultiHeadAttention, MultiheadAttention
from .attention.positions import LearnedPositionalEncoding, PositionalEncoding
from .attention.rotary import LinearScaling, LlamaScaling, RotaryEncoding
from .configs.json_text import from_json, load_config, save_config, to_json
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
from .layers.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .layers.convolution import Conv1d, Conv2d, Conv3d
from .layers.deformed import DeformConv2d
from .layers.distance import CosineSimilarity, PairwiseDistance
from .layers.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, GaussianNoise
from .layers.embedding import Embedding
from .layers.flatten import Flatten, Unflatten
from .layers.group_norm import GroupNorm
from .layers.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .layers.interpolate import Interpolate, Upsample
from .layers.layer_norm import LayerNorm, RMSNorm, RmsNorm
from .layers.linear import Identity, Linear, Sequential
from .layers.local_response_norm import LocalResponseNorm
from .layers.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from .layers.pixel_shuffle import PixelShuffle, PixelUnshuffle
from .layers.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from .layers.transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers.unfold import Fold, Unfold
from .losses.alignment import CTCLoss, RNNTLoss, ctc_loss, rnnt_loss
from .losses.likelihood import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    KLDivLoss,
    NLLLoss,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    kl_div,
    nll_loss,
)
from .losses.loss import Loss
from .losses.margins import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from .losses.regression import (
    GaussianNLLLoss,
    HuberLoss,
    L1Loss,
    LpLoss,
    MSELoss,
    PoissonNLLLoss,
    SmoothL1Loss,
    gaussian_nll_loss,
    huber_loss,
    l1_loss,
    lp_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from .module import Buffer, FrozenError, Module
from .record import Record
from .recurrent.cells import GRUCell, LSTMCell, RNNCell
from .recurrent.layers import GRU, LSTM, RNN
from .transformer.decoder import TransformerDecoder, TransformerDecoderLayer
from .transformer.encoder import TransformerEncoder, TransformerEncoderLayer
from .transformer.feed_forward import GatedFeedForward, PositionWiseFeedForward
from .transformer.transformer import Transformer


def __getattr__(name: str) -> NoReturn:
    """Says what a name that there is not is called here."""
    refuse_name(__name__, name, sys.modules[__name__])
