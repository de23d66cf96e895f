"""General funcs: that they are sound, and do what was recorded.

Comes in: a recorded func, or the module that it calls funcs of. Goes out: what `generalise` makes
of it, after it was verified and run beside the recording.
Never: a tolerance; results are the same bits.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from brimstone.ir import Func, Module, print_func, verify
from brimstone.ir.dims import Dim, evaluate, symbols
from brimstone.ir.interpreter import interpret
from brimstone.passes.generalise import Generalised, generalise
from brimstone.passes.oracle import choose_sizes, difference, random_arguments


def general(func: Func) -> Generalised:
    """The general func, verified; the recording is as it was."""
    before = print_func(func)
    made = generalise(func)
    verify(made.func)
    assert print_func(func) == before
    return made


def text_of(func: Func) -> str:
    """The text of the general func."""
    return print_func(general(func).func)


def check_bits(module: Module, made: Generalised, seed: int = 0) -> None:
    """Run the first func of a module, and what was made of it, on the same random arguments, for
    odd seeds with special numbers."""
    recorded = module.main
    others = [func for func in module if func is not recorded]
    choices = choose_sizes(recorded)
    sizes = choices[seed % len(choices)]
    rng = np.random.default_rng(seed)
    arguments: list[Any] = random_arguments(recorded, sizes, rng, special=seed % 2 == 1)
    expected = interpret(module, *arguments, sizes=sizes)
    program = Module([made.func, *others])
    known = sizes | made.sizes
    found = interpret(program, *arguments, *numbers(made, known), sizes=known)
    assert difference(expected, found) is None


def numbers(made: Generalised, sizes: Mapping[str, int]) -> list[Any]:
    """What a general func takes after its arguments, where its sizes are these."""
    return [
        np.asarray(evaluate(each, {symbol: sizes[symbol.name] for symbol in symbols(each)}))
        if isinstance(each, Dim)
        else each
        for each in made.scalars
    ]
