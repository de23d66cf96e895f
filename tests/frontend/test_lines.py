"""Lines of the user's program in what is traced: its own, though another function is the same."""

from collections.abc import Callable
from typing import Any

import pytest

import brimstone as bs


def first(x: bs.Tensor) -> bs.Tensor:
    return (bs.exp(x) * bs.sin(x)).sum()


def second(x: bs.Tensor) -> bs.Tensor:
    return (bs.exp(x) * bs.sin(x)).sum()


def grown(carry: bs.Tensor, x: bs.Tensor) -> tuple[bs.Tensor, bs.Tensor]:
    return carry + bs.exp(x), carry


def grown_too(carry: bs.Tensor, x: bs.Tensor) -> tuple[bs.Tensor, bs.Tensor]:
    return carry + bs.exp(x), carry


def doubled(x: bs.Tensor) -> bs.Tensor:
    return bs.exp(x) * 2


def doubled_too(x: bs.Tensor) -> bs.Tensor:
    return bs.exp(x) * 2


X = bs.ones(5)
PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "grad": (first, second, lambda f, x: bs.grad(f)(x)),
    "vjp": (first, second, lambda f, x: bs.vjp(f, x)[1](bs.ones(()))),
    "jvp": (first, second, lambda f, x: bs.jvp(f, (x,), (x,))),
    "linearize": (first, second, lambda f, x: bs.linearize(f, x)[1](x)),
    "vmap": (doubled, doubled_too, lambda f, x: bs.vmap(f)(x)),
    "checkpoint": (first, second, lambda f, x: bs.grad(bs.checkpoint(f))(x)),
    "scan": (grown, grown_too, lambda f, x: bs.scan(f, bs.zeros(()), x)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_equal_functions_each_has_its_own_lines(name: str) -> None:
    one, other, how = PAIRS[name]
    for function in (one, other, one):
        module = bs.jit(lambda x, function=function: how(function, x)).lower(X).ir
        lines = {line for op in module.main.walk() for _, line in op.location}
        begin = function.__code__.co_firstlineno
        foreign = ({one, other} - {function}).pop().__code__.co_firstlineno
        assert begin + 1 in lines
        assert foreign + 1 not in lines


def test_code_of_one_text_in_two_files_has_the_lines_of_each() -> None:
    text = "def made(x):\n    return x + 1\n"
    for file in ("one.py", "other.py"):
        names: dict[str, Any] = {}
        exec(compile(text, file, "exec"), names)
        ops = bs.jit(names["made"]).lower(X).ir.main.walk()
        assert f"{file}:2" in [str(op.location) for op in ops]
