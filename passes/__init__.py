"""The passes and what runs them.

`declare` says how a pass is written, `pipelines` lists all of them on one screen, `manager` runs
them. `oracle` compares results before and after; `reduce` and `bisect` find out what went wrong.
"""

from .context import Context, Observer, Settings
from .declare import Pass, Step, pipeline_pass
from .manager import PassError, run_pipeline
from .stage import Span, Stage

__all__ = [
    "Context",
    "Observer",
    "Pass",
    "PassError",
    "Settings",
    "Span",
    "Stage",
    "Step",
    "pipeline_pass",
    "run_pipeline",
]
