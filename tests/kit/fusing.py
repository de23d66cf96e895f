"""Funcs to be fused: from text, run before and after, counted.

Comes in: the text of a func, or a func. Goes out: what `fuse` makes of it, verified, printed and
parsed again, with results of the same bits at several sizes; its kernels by name.
Never: a tolerance.
"""

from brimstone.ir import print_module, verify
from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.passes.context import Context
from brimstone.passes.fuse import Fused, fuse
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.oracle import disagreement, observe
from brimstone.passes.pipelines import PREPARE


def func_of(text: str) -> Func:
    """The func of a text."""
    module = parse(text, "model.ir")
    verify(module)
    return module.main


def prepared(func: Func, pinned: bool = False) -> Func:
    """A recorded func as it is when it is fused: with open sizes (unless `pinned`), simplified."""
    module = Module([func if pinned else generalise(func).func])
    run_pipeline(module, PREPARE, Context())
    return module.main


def checked(func: Func, apart: bool = False, runs: bool = True) -> Fused:
    """The step of a func, which does the same, bit for bit; `runs`: at some sizes at least."""
    trials = list(observe(Module([func])))
    assert trials or not runs, "the func cannot be run"
    before = print_module(Module([func]))
    made = fuse(func, apart=apart)
    assert print_module(Module([func])) == before, "fusing changed the func"
    verify(made.module)
    again = parse(print_module(made.module), "fused.ir")
    verify(again)
    assert disagreement(trials, again) is None
    return made


def kernels(text: str) -> list[str]:
    """The names of the kernels of a text, in the order in which they run."""
    return [each.name for each in checked(func_of(text)).report.kernels]


def reasons(fused: Fused) -> list[str]:
    """Why kernels are not one, each reason once."""
    found = [str(why) for each in fused.report.kernels for why in each.boundaries.values()]
    return list(dict.fromkeys(found))
