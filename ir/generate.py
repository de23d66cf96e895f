"""Writes the Python of `build` and `verify` for one op class.

Comes in: the fields of a declaration. Goes out: two functions, compiled once per distinct text
(all binary elementwise ops share one), with the classes, kinds and rules as their globals.
`build` checks operands, makes attributes canonical, looks for an equal op, infers the results,
folds, and links the op into the builder's block. `verify` checks an op that exists.
Never: a rule that is not in the declaration.

`python -c "from brimstone.ir import generate, tensor; print(generate.source(tensor.Add))"` shows
what is written.
"""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from types import CodeType
from typing import Any, cast

from .declare import NO_DEFAULT, Field, Op, Role, given_results, infer_arguments, shape_rule
from .errors import Unmet
from .values import ORDER_GAP, Block, Value

Lines = Iterator[str]


def generate(cls: type[Op]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions `build(builder, …)` and `verify(op)` of an op class."""
    namespace = _globals(cls)
    exec(_compiled(source(cls)), namespace)  # the text is ours: only names of fields enter it
    build, verify = namespace["build"], namespace["verify"]
    build.__qualname__ = verify.__qualname__ = cls.name
    return build, verify


def source(cls: type[Op]) -> str:
    """The text of both functions."""
    return "\n".join([*_build(cls), "", *_verify(cls), ""])


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<declared op>", "exec")


def _globals(cls: type[Op]) -> dict[str, Any]:
    """Everything the texts refer to."""
    names: dict[str, Any] = {
        "cls": cls, "new": cls.__new__, "make": object.__new__, "Value": Value, "Block": Block,
        "Unmet": Unmet, "infer": _remembered_rule(cls), "GAP": ORDER_GAP,
        "wrong_result": wrong_result, "wrong_count": wrong_count, "not_a_value": not_a_value,
    }  # fmt: skip
    for field in cls.fields:
        names[f"types_{field.name}"] = field.types[0] if len(field.types) == 1 else field.types
        names[f"dtypes_{field.name}"] = field.rule.dtypes
        names[f"default_{field.name}"] = field.default
        if field.rule.dtypes and len(field.rule.dtypes) == 1:
            names[f"dtype_{field.name}"] = next(iter(field.rule.dtypes))
        if field.kind is not None:
            names[f"normal_{field.name}"] = field.kind.normalise
            names[f"class_{field.name}"] = field.kind.canonical
    return names


def _remembered_rule(cls: type[Op]) -> Callable[..., Any] | None:
    """The shape rule, run once for each distinct list of types and attributes, which are interned.

    What a region yields may change, so a rule that looks at one runs each time.
    """
    rule = shape_rule(cls)
    looks_inside = {field.name for field in cls.region_fields} & {*infer_arguments(cls)}
    return rule if rule is None or looks_inside else lru_cache(1024)(rule)


def _build(cls: type[Op]) -> Lines:
    yield f"def build(builder, {', '.join(_parameters(cls))}):"
    yield from _indented(_take_operands(cls))
    yield from _indented(_normalise(cls))
    yield f"    operands = {_tuple(_operand_names(cls))}"
    yield f"    attributes = {_tuple(_attribute_names(cls))}"
    if cls.numbered:
        yield from _indented(_look_up())
    yield from _indented(_result_types(cls))
    yield from _indented(_make_op(cls))
    if cls.check is not Op.check:
        yield "    op.check()"
    if cls.foldable:
        yield from _indented(_fold(cls))
    yield from _indented(_link(cls))
    yield "    return results"


def _parameters(cls: type[Op]) -> list[str]:
    """Operands, attributes and regions in the declared order; those with defaults come last."""
    inputs = [field for field in cls.fields if field.role not in (Role.RESULT, Role.RESULTS)]
    required = [field.name for field in inputs if field.default is NO_DEFAULT]
    named = [f"{f.name}=default_{f.name}" for f in inputs if f.default is not NO_DEFAULT]
    given = [f"types_of_{field.name}" for field in given_results(cls)]
    return required + given + named


def _take_operands(cls: type[Op]) -> Lines:
    fields = cls.operand_fields
    if not fields:
        return
    yield "try:"
    for field in fields:
        if field.role is Role.OPERANDS:
            yield f"    {field.name} = tuple({field.name})"
    yield from _indented(_types_of_operands(cls))
    yield "except (AttributeError, TypeError):"
    named = ", ".join(f"{field.name!r}: {field.name}" for field in fields)
    yield f"    raise not_a_value({{{named}}}) from None"
    yield from _check_operands(cls)


def _types_of_operands(cls: type[Op]) -> Lines:
    for field in cls.operand_fields:
        one = field.role is Role.OPERAND
        types = f"{field.name}.type" if one else f"tuple([each.type for each in {field.name}])"
        yield f"type_{field.name} = {types}"


def _check_operands(cls: type[Op]) -> Lines:
    """Types of operands, given locals `type_x` for each."""
    # What is shaped as another field is checked after it, which then is known to have a shape.
    for field in sorted(cls.operand_fields, key=lambda field: field.rule.shaped_as is not None):
        if field.role is Role.OPERANDS:
            yield from _check_all(field, f"type_{field.name}", "each")
        else:
            yield from _check_one(field, f"type_{field.name}")


def _check_all(field: Field, values: str, type_: str) -> Lines:
    """Refuse each of several types that the field does not take."""
    inner = list(_check_one(field, type_))
    if inner:
        yield f"for each in {values}:"
        yield from _indented(iter(inner))


def _check_one(field: Field, type_: str) -> Lines:
    """Refuse a type, which is in the local `type_`, that the field does not take."""
    name, rule = field.name, field.rule
    other = rule.same_as or rule.shaped_as
    if field.types and rule.same_as is None:
        test = "is not" if len(field.types) == 1 else "not in"
        wanted = " or ".join(each.keyword for each in field.types)
        yield f"if {type_}.__class__ {test} types_{name}:"
        article = "an" if wanted[0] in "aeiou" else "a"
        yield f"    raise Unmet(f'{name} has type {{{type_}}}, expected {article} {wanted}')"
    if other is not None:
        expected = f"type_{other}" + f".with_dtype(dtype_{name})" * (rule.same_as is None)
        yield f"if {type_} is not {expected}:"
        wanted = f"{{{expected}}} (from {other})"
        yield f"    raise Unmet(f'{name} has type {{{type_}}}, expected {wanted}')"
    elif rule.dtypes is not None:
        among = ", ".join(sorted(dtype.name for dtype in rule.dtypes))
        yield f"if {type_}.dtype not in dtypes_{name}:"
        yield f"    raise Unmet(f'{name} has type {{{type_}}}, expected a dtype among {among}')"


def _normalise(cls: type[Op]) -> Lines:
    for field in cls.attribute_fields:
        name = field.name
        tests = [f"{name} is not None"] * field.optional
        tests += [_quick_test(field)] if _quick_test(field) else []
        if tests:
            yield f"if {' and '.join(tests)}:"
        yield f"{'    ' * bool(tests)}{name} = normal_{name}({name})"
    if cls.segmented:
        lists = [f for f in cls.operand_fields if f.role is Role.OPERANDS]
        yield f"segments = ({''.join(f'len({field.name}), ' for field in lists)})"


def _quick_test(field: Field) -> str:
    """Says that an attribute is not of the class whose instances are canonical, if there is one."""
    known = field.kind is not None and field.kind.canonical is not None
    return f"{field.name}.__class__ is not class_{field.name}" * known


def _operand_names(cls: type[Op]) -> list[str]:
    return [f"*{f.name}" if f.role is Role.OPERANDS else f.name for f in cls.operand_fields]


def _attribute_names(cls: type[Op]) -> list[str]:
    return [f.name for f in cls.attribute_fields] + ["segments"] * cls.segmented


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _look_up() -> Lines:
    yield "key = (cls, operands, attributes)"
    yield "block = builder.block"
    yield "found = block.numbering.get(key)"
    yield "if found is None and builder.nested:"
    yield "    found = builder.find_outside(key)"
    yield "if found is not None:"
    yield "    return builder.reuse(found)"


def _result_types(cls: type[Op]) -> Lines:
    """Locals `type_r` for each single result, `types_of_r` for a list of results."""
    if shape_rule(cls) is not None:
        call = f"infer({', '.join(_infer_values(cls))})"
        fields = cls.result_fields
        if len(fields) == 1 and fields[0].role is Role.RESULT:
            yield f"type_{fields[0].name} = {call}"
            return
        yield f"inferred = {call}"
        for place, field in enumerate(fields):
            many = field.role is Role.RESULTS
            yield f"type{'s_of' * many}_{field.name} = inferred[{place}{':' * many}]"
        return
    for field in cls.result_fields:
        if field.rule.same_as is not None:
            yield f"type_{field.name} = type_{field.rule.same_as}"
        elif field.rule.shaped_as is not None:
            yield f"type_{field.name} = type_{field.rule.shaped_as}.with_dtype(dtype_{field.name})"
        elif field.role is Role.RESULT:
            yield f"type_{field.name} = types_of_{field.name}"


def _infer_values(cls: type[Op]) -> list[str]:
    """What the shape rule is handed: the types of operands, the values of all else."""
    operands = {field.name for field in cls.operand_fields}
    return [f"type_{name}" if name in operands else name for name in infer_arguments(cls)]


def _make_op(cls: type[Op]) -> Lines:
    yield "op = new(cls)"
    yield "op.operands = operands"
    yield "op.attributes = attributes"
    yield f"op.regions = {_tuple([field.name for field in cls.region_fields])}"
    yield "op.location = builder.location"
    yield "op.block = None"
    singles: list[str] = []
    for place, field in enumerate(cls.result_fields):
        if field.role is Role.RESULT:
            yield f"result_{field.name} = make(Value)"
            yield from (f"result_{field.name}.{line}" for line in (
                f"type = type_{field.name}", "owner = op", f"index = {place}",
                "name = None", "uses = {}",
            ))  # fmt: skip
            singles.append(f"result_{field.name}")
        else:
            yield f"rest = [Value(type_, op, {place} + offset)"
            yield f"    for offset, type_ in enumerate(types_of_{field.name})]"
            singles.append("*rest")
    yield f"op.results = results = {_tuple(singles)}"


def _fold(cls: type[Op]) -> Lines:
    tests = [
        f"all([each.owner.is_constant for each in {field.name}])"
        if field.role is Role.OPERANDS else f"{field.name}.owner.is_constant"
        for field in cls.operand_fields
    ]  # fmt: skip
    yield f"if {' and '.join(tests)}:"
    yield "    folded = op.fold()"
    yield "    if folded is not None:"
    yield "        return builder.constants(cls, folded)"


def _link(cls: type[Op]) -> Lines:
    for field in cls.operand_fields:
        if field.role is Role.OPERANDS:
            yield f"for each in {field.name}:"
            yield "    each.uses[op] = None"
        else:
            yield f"{field.name}.uses[op] = None"
    for field in cls.region_fields:
        yield f"{field.name}.parent = op"
    if not cls.numbered:
        yield "builder.insert(op)"
        return
    yield "if builder.before is None and builder.log is None:"
    yield "    last = block.last"
    yield "    op.block, op.previous, op.next = block, last, None"
    yield "    if last is None:"
    yield "        block.first = op"
    yield "        op.order = GAP"
    yield "    else:"
    yield "        last.next = op"
    yield "        op.order = last.order + GAP"
    yield "    block.last = op"
    yield "    block.numbering[key] = op"
    yield "else:"
    yield "    builder.insert(op)"


def _verify(cls: type[Op]) -> Lines:
    yield "def verify(op):"
    yield from _indented(_unpack(cls))
    yield from _indented(_check_operands(cls))
    if not given_results(cls):
        yield from _indented(_result_types(cls))
        yield from _indented(_check_results(cls))
    else:
        yield from _indented(_check_given(cls))
    if cls.check is not Op.check:
        yield "    op.check()"
    yield "    return None"


def _unpack(cls: type[Op]) -> Lines:
    """Operands' types, attributes and regions into locals, each counted."""
    fields = cls.operand_fields
    lists = [field for field in fields if field.role is Role.OPERANDS]
    attributes = _attribute_names(cls)
    regions = [field.name for field in cls.region_fields]
    tests = [
        f"len(op.operands) {'<' if lists else '!='} {len(fields) - len(lists)}",
        f"len(op.attributes) != {len(attributes)}" if attributes else "op.attributes",
        f"len(op.regions) != {len(regions)}" if regions else "op.regions",
    ]
    yield f"if {' or '.join(tests)}:"
    yield "    raise wrong_count(op)"
    if cls.segmented:
        yield from (f"{field.name} = op.{field.name}" for field in fields)
    elif fields:
        yield f"{_tuple(_operand_names(cls))} = op.operands"
    yield from _types_of_operands(cls)
    for what, names in (("attributes", attributes), ("regions", regions)):
        if names:
            yield f"{_tuple(names)} = op.{what}"
    for field in cls.attribute_fields:
        name, known = field.name, field.kind is not None and field.kind.canonical is not None
        test = (
            f"{name}.__class__ is not class_{name}"
            if known
            else f"normal_{name}({name}) is not {name}"
        )
        yield f"if {f'{name} is not None and ' * field.optional}{test}:"
        yield f"    raise Unmet(f'{name} is {{{name}!r:.60}}, which is not canonical')"


def _check_results(cls: type[Op]) -> Lines:
    fields = cls.result_fields
    parts = [f"type_{f.name}" if f.role is Role.RESULT else f"*types_of_{f.name}" for f in fields]
    if len(fields) == 1 and fields[0].role is Role.RESULT:
        yield "results = op.results"
        yield f"if len(results) != 1 or results[0].type is not {parts[0]}:"
        yield f"    raise wrong_result(op, ({parts[0]},))"
        return
    yield f"expected = {_tuple(parts)}"
    yield "if tuple([result.type for result in op.results]) != expected:"
    yield "    raise wrong_result(op, expected)"


def _check_given(cls: type[Op]) -> Lines:
    """Results with stated types: at least their number and classes must be right."""
    for place, field in enumerate(cls.result_fields):
        if field.role is Role.RESULT:
            yield f"if len(op.results) <= {place}: raise wrong_count(op)"
            yield from _check_one(field, f"op.results[{place}].type")
        else:
            yield from _check_all(field, f"op.results[{place}:]", "each.type")


def _indented(lines: Lines) -> Lines:
    return (f"    {line}" for line in lines)


def not_a_value(named: dict[str, Any]) -> Unmet:
    """The error for an operand that is no value of the IR."""
    for name, given in named.items():
        for part in cast(tuple[Any, ...], given if isinstance(given, tuple | list) else (given,)):
            if not isinstance(part, Value):
                return Unmet(f"{name} is {part!r:.60}, not a value")
    return Unmet("a list of operands is not a list of values")


def wrong_result(op: Op, expected: tuple[Any, ...]) -> Unmet:
    """The error for results whose types do not follow from operands and attributes."""
    found = ", ".join(result.type.text for result in op.results) or "none"
    return Unmet(f"the result has type {found}, expected {', '.join(map(str, expected))}")


def wrong_count(op: Op) -> Unmet:
    """The error for too many or too few operands, attributes, results or regions."""
    counts = (("operands", op.operands), ("attributes", op.attributes), ("regions", op.regions))
    found = ", ".join(f"{len(parts)} {what}" for what, parts in (*counts, ("results", op.results)))
    return Unmet(f"it has {found}")
