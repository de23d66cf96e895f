"""`trace`: what each pass of a run did, as one page for a browser.

    recorder = Recorder(module)
    stages = run_pipeline(module, "simplify,cse", Context(observers=[recorder]))
    text = page(describe(recorder, "model.ir"))

Comes in: a module, and the stages that the pass manager tells an observer of. Goes out: HTML.
Never: a change to the module, or anything that a browser would have to fetch.
"""

from .describe import describe
from .page import page
from .record import Moment, Recorder

__all__ = ["Moment", "Recorder", "describe", "page"]
