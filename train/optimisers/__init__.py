"""Optimisers: how a model changes by its gradients, one file each."""

from .adafactor import Adafactor
from .adagrad import AdaGrad
from .adam import Adam, AdamW
from .adan import Adan
from .groups import Groups, is_matrix
from .lamb import Lamb
from .lbfgs import LBFGS, LBFGSState
from .lion import Lion
from .muon import Muon
from .nadam import NAdam
from .optimiser import Optimiser, OptimiserState
from .radam import RAdam
from .rmsprop import RMSProp
from .sgd import SGD
