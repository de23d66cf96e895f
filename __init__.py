from .frontend import *
from .frontend import __dir__, __doc__, __getattr__
