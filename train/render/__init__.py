"""What a person sees of a training run: a dashboard, bars, or lines."""

from .bars import Bars
from .choose import chosen_renderer
from .dashboard import Dashboard
from .lines import Lines
from .renderer import Renderer
