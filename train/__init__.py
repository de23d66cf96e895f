"""Training: what a run tells, and who listens."""

from .events import Ended, EpochEnded, Event, Listener, Note, Progress, Saved, Started, Stop
