"""What is left of a step where its choices are made."""

import pytest

from brimstone.ir import step
from brimstone.ir.func import Module
from brimstone.targets.llvm.flow import FLOWS_AT_MOST, Flows
from brimstone.targets.sizes import Numbers
from kit.texts import read

NESTED = """
func @f<n: 0..64>(%x: array<[n], i32>) -> array<[n], i32> {
  %y = step.allocate : array<[n], i32>
  step.fill %y {value = 0}
  step.when {size = n, at_least = 4} () {
    step.fill %y {value = 4}
    step.when {size = n, at_least = 9} () {
      step.fill %y {value = 9}
      yield
    } () {
      step.copy %x, %y
      yield
    }
    yield
  } () {
    yield
  }
  step.loop {trip = n} (%i: scalar<i64>) {
    step.when {size = 2*n, at_least = 12} () {
      step.fill %y {value = 6}
      yield
    } () {
      step.fill %y {value = 5}
      step.copy %x, %y
      yield
    }
    yield
  }
  return %y
}
"""
CASES = {
    0: ["allocate", "0", "loop", "5", "copy"],
    4: ["allocate", "0", "4", "copy", "loop", "5", "copy"],
    6: ["allocate", "0", "4", "copy", "loop", "6"],
    9: ["allocate", "0", "4", "9", "loop", "6"],
}


def done(flows: Flows, module: Module, size: int) -> list[str]:
    """What is done, that of rounds behind their loops."""
    (symbol,) = module.main.symbols
    flow = flows.at(Numbers({symbol: size}))
    found, pending = list[str](), [*flow.ops[module.main.body]]
    while pending:
        op = pending.pop(0)
        told = str(op.value.array) if isinstance(op, step.Fill) else op.name.removeprefix("step.")
        found.append(told)
        pending[:0] = [each for region in op.regions for each in flow.ops[region]]
    return found


@pytest.mark.parametrize("size", CASES)
def test_what_is_chosen_is_done(size: int) -> None:
    module = read(NESTED)
    assert done(Flows(module.main.body), module, size) == CASES[size]


def test_sizes_that_choose_the_same_share_a_flow() -> None:
    module = read(NESTED)
    flows = Flows(module.main.body)
    (symbol,) = module.main.symbols
    found = [flows.at(Numbers({symbol: size})) for size in range(65)]
    assert [found.index(each) for each in found] == [0] * 4 + [4] * 2 + [6] * 3 + [9] * 56


def test_only_so_many_are_remembered() -> None:
    one = "step.when {size = n, at_least = AT} () {\n yield\n } () {\n yield\n }\n"
    choices = "".join([one.replace("AT", str(at)) for at in range(1, FLOWS_AT_MOST + 2)])
    module = read(f"func @f<n: 0..99>(%x: array<[n], i32>) {{\n{choices} return\n}}\n")
    flows = Flows(module.main.body)
    (symbol,) = module.main.symbols
    first = flows.at(Numbers({symbol: 0}))
    for size in range(FLOWS_AT_MOST):
        flows.at(Numbers({symbol: size}))
    assert flows.at(Numbers({symbol: 0})) is first
    flows.at(Numbers({symbol: FLOWS_AT_MOST}))
    assert flows.at(Numbers({symbol: 0})) is not first
