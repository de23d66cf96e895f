"""Schedules: rates that change from step to step, by kinds."""

from .combined import Composed, Sequential
from .constant import Constant
from .cycles import OneCycle, WarmRestarts, WarmupStableDecay
from .decay import Exponential, Milestones, Step
from .noam import Noam
from .plateau import Plateau, PlateauState
from .schedule import Schedule
from .ways import Cosine, Linear, Polynomial
