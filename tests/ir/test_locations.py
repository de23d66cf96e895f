"""Where ops come from: interned sets of lines, kept through text, reuse and rewriting."""

import pickle

from brimstone.frontend.caller import caller
from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Return
from brimstone.ir.locations import UNKNOWN, Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func, print_module
from brimstone.ir.types import Tensor

A, B = ("a.py", 1), ("b.py", 2)


def test_equal_sets_are_one_object() -> None:
    assert Location(A, B) is Location(A, B)
    assert Location(A, B, A) is Location(A, B)
    assert Location(A, B) is not Location(B, A)
    assert pickle.loads(pickle.dumps(Location(A, B))) is Location(A, B)


def test_unions_keep_each_line_once_in_order() -> None:
    assert Location(A).union(Location(B)) is Location(A, B)
    assert Location(A, B).union(Location(B)) is Location(A, B)
    assert Location(A).union(UNKNOWN) is UNKNOWN.union(Location(A)) is Location(A)
    assert str(Location(A, B)) == "a.py:1, b.py:2"
    assert Location(A) and not UNKNOWN


def here() -> Location:
    return caller()


def test_the_calling_line() -> None:
    one = here()
    two, three = here(), [here() for _ in range(2)]
    ((file, line),) = one
    assert file == __file__
    assert two == ((file, line + 1),)
    assert three[0] is three[1]


def test_ops_from_text_know_their_line() -> None:
    func = parse("// a comment\n\nfunc @f() {\n\n  return\n}\n", "f.ir").main
    assert func.location is Location(("f.ir", 3))
    assert func.body.terminator.location is Location(("f.ir", 5))


def test_text_may_say_other_lines() -> None:
    text = (
        'func @f(%0: tensor<[4], f32>) -> tensor<[4], f32> at "model.py":7 {\n'
        '  %1 = tensor.exp %0 : tensor<[4], f32> at "a \\"b\\"\\\\.py":1, "c.py":2\n'
        '  return %1 at "model.py":9\n'
        "}\n"
    )
    module = parse(text)
    assert print_module(module, locations=True) == text
    first, last = module.main.walk()
    assert first.location is Location(('a "b"\\.py', 1), ("c.py", 2))
    assert last.location is Location(("model.py", 9))
    assert " at " not in print_module(module)


def test_space_before_a_location_is_free() -> None:
    ops = "".join(f'  %{n} = tensor.exp %x : tensor<[], f32>  at "a.py":{n}\n' for n in range(3))
    module = parse(f"func @f(%x: tensor<[], f32>) {{\n{ops}  return\n}}")
    assert [str(op.location) for op in module.main.walk()][:3] == ["a.py:0", "a.py:1", "a.py:2"]


def test_an_op_within_a_region_knows_its_line() -> None:
    text = (
        "func @f(%p: tensor<[], bool>, %x: tensor<[], f32>) {\n"
        "  %y = tensor.cond %p () {\n    yield %x\n  } () {\n\n    yield %x\n"
        "  } : tensor<[], f32>\n  return\n}\n"
    )
    found = [(op.name, op.location[0][1]) for op in parse(text, "f.ir").main.walk()]
    assert found == [("tensor.cond", 2), ("yield", 3), ("yield", 6), ("return", 8)]


def test_what_is_unknown_is_not_printed() -> None:
    func = Func("f", [Tensor((4,), f32)])
    builder = Builder(func.body)
    made = builder.emit(tensor.Exp, func.arguments[0])
    builder.location = Location(A)
    builder.emit_all(Return, [made])
    assert print_func(func, locations=True).splitlines()[1:3] == [
        "  %1 = tensor.exp %0 : tensor<[4], f32>",
        '  return %1 at "a.py":1',
    ]


def test_errors_name_the_line() -> None:
    assert str(VerifyError("it is wrong", Location(A, B))) == "a.py:1, b.py:2: it is wrong"
    assert str(VerifyError("it is wrong")) == "it is wrong"
