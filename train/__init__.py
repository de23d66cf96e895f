"""Training: the `Learner`, optimisers, schedules, metrics, checkpoints, and who listens."""

from . import log, metrics, render, schedules
from .averages import EMA, Averaged, AveragedState, AverageState
from .clipping import (
    ClipGlobalNorm,
    ClipNorm,
    ClipValue,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    global_norm,
)
from .events import Ended, EpochEnded, Event, Listener, Note, Progress, Saved, Started, Stop
from .learner import Learner
from .optimisers import (
    LBFGS,
    SGD,
    Adafactor,
    AdaGrad,
    Adam,
    AdamW,
    Adan,
    Groups,
    Lamb,
    Lion,
    Muon,
    NAdam,
    Optimiser,
    RAdam,
    RMSProp,
    is_matrix,
)
from .run import LossNotFinite, Run
from .saving import Composed, KeepAll, KeepBest, KeepLast, Saving
from .saving.loading import CheckpointWarning, load
from .state import State
from .step import Report
from .stopping import EarlyStopping
