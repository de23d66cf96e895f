"""Training: the `Learner`, optimisers, schedules, metrics, checkpoints, and who listens.

`log`, `metrics` and `render` load when they are first used, as do the libraries that they need.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import schedules
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

LAZY = ("log", "metrics", "render")

if TYPE_CHECKING:
    from . import log, metrics, render
else:

    def __getattr__(name: str) -> object:
        """A part that is used for the first time; importing it makes it an attribute."""
        if name in LAZY:
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY})
