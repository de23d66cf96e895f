"""What `prune` takes out, and what it is asked; texts are in `prune/*.ir`."""

import pytest

from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.passes.context import Context, Settings
from brimstone.passes.manager import run_pipeline

LOOP = """
func @f<n: 0..64>(%x: tensor<[n], f32>, %y: tensor<[n], f32>) -> tensor<[n], f32> {
  %dead = tensor.add %x, %y : tensor<[n], f32> at "model.py":1
  %a, %b = tensor.loop [%x, %y] {trip = 3} (%i: tensor<[], i64>, %c: tensor<[n], f32>, %d: tensor<[n], f32>) {
    %next = tensor.exp %c : tensor<[n], f32> at "model.py":2
    yield %next, %d
  } : tensor<[n], f32>, tensor<[n], f32> at "model.py":3
  return %a
}
"""  # noqa: E501 (IR text has long lines)


def pruned(fuel: int | None) -> tuple[str, list[str]]:
    """The text afterwards, and what was changed, by line."""
    module, context = parse(LOOP), Context(fuel, Settings(reproduce=False))
    run_pipeline(module, "prune", context)
    return print_module(module, locations=True), [
        str(each.location) for each in context.applications
    ]


@pytest.mark.parametrize("fuel", range(3))
def test_each_change_takes_fuel(fuel: int) -> None:
    text, changed = pruned(fuel)
    assert changed == ["model.py:3", "model.py:1"][:fuel]
    assert ("%a, %b" in text) == (fuel < 1)
    assert ("%dead" in text) == (fuel < 2)


def test_lines_stay() -> None:
    text, _ = pruned(None)
    assert '} : tensor<[n], f32> at "model.py":3' in text
    assert 'tensor.exp %c : tensor<[n], f32> at "model.py":2' in text
