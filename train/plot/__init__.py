"""Pictures of training runs, drawn here: curves, axes, letters, and the PNG around them."""

from .curves import Curve, curves_of
from .figure import figure
from .png import png
