"""Training: the `Learner`, checkpoints, what a run tells, and who listens."""

from .events import Ended, EpochEnded, Event, Listener, Note, Progress, Saved, Started, Stop
from .learner import Learner
from .run import LossNotFinite, Run
from .saving import Composed, KeepAll, KeepBest, KeepLast, Saving
from .saving.saver import CheckpointWarning
from .state import State
from .step import Report
from .stopping import EarlyStopping
