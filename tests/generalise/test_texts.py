"""Each relation as text, before and after; the files beside this one have the cases."""

from pathlib import Path

import pytest

from brimstone.ir import parse, print_func, tensor, verify
from brimstone.ir.declare import REGISTRY, Op
from brimstone.passes.generalise.relations import RELATIONS
from kit.cases import Case, read_cases
from kit.general import check_bits, general

FILES = sorted(Path(__file__).parent.glob("*.txt"))
CASES = [case for file in FILES for case in read_cases(file)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_relation(case: Case) -> None:
    module = parse(case.text, str(case.file))
    verify(module.main)
    made = general(module.main)
    assert print_func(made.func).strip() == case.expected
    if not case.not_run:
        check_bits(module, made)


def test_every_op_of_several_operands_has_a_relation() -> None:
    """For others, their own shape rule says enough."""
    ops = [cls for cls in REGISTRY.values() if issubclass(cls, tensor.TensorOp)]
    several = [cls for cls in ops if takes_several(cls)]
    assert len(several) > 30
    related = [cls for cls in several if any(base in RELATIONS for base in cls.__mro__)]
    assert [cls.name for cls in several if cls not in related] == []


def takes_several(cls: type[Op]) -> bool:
    lists = any(field.many for field in cls.operand_fields)
    return lists or len(cls.operand_fields) > 1 or bool(cls.region_fields)


def test_every_relation_has_a_case() -> None:
    shown = "".join(case.text for case in CASES)
    ops = [cls for cls in RELATIONS if cls.name.startswith("tensor.")]
    assert len(ops) > 30
    assert [cls.name for cls in ops if f"{cls.name} " not in shown] == []
