"""Writes the Python of `build` and `verify` for one op class.

Comes in: the fields of a declaration, and which function is called. Goes out: that one, compiled
once per distinct text (all binary elementwise ops share it), with kinds and rules as globals; print
`generate.source(tensor.Add, "build")` to see one. Never: a rule not declared. In the texts below
`$x` is the name of a field, and `$ruled` its type by its rule.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from textwrap import indent
from types import NoneType
from typing import Any, cast

from .declare import NO_DEFAULT, Field, Op, Role
from .errors import Unmet
from .values import ORDER_GAP, Key, Value

TYPE, TYPES = "    type_$x = $x.type", "    type_$x = tuple([each.type for each in $x])"
REFUSE = """
if $one{}:
    raise wrong_type('$x', $one, {})
"""
REFUSE_CLASS = REFUSE.format(".__class__ not in types_$x", "keywords_$x")
REFUSE_DTYPE = REFUSE.format(".dtype not in dtypes_$x", "listed_$x")
REFUSE_OTHER = REFUSE.format(" is not $ruled", "$ruled, ' (from $like)'")
NORMALISE = """
if $x.__class__ not in canonical_$x:
    $x = normal_$x($x)
"""
REFUSE_ATTRIBUTE = """
if $x.__class__ not in canonical_$x and normal_$x($x) is not $x:
    raise Unmet(f'$x is {$x!r:.60}, which is not canonical')
"""
LOOK_UP = """
identity = (cls, operands, attributes)
if identity in builder.block.numbering or builder.nested:
    found = builder.find(identity)
    if found is not None:
        return found
"""
MAKE_RESULT = """
result_$x = make(Value)
result_$x.type, result_$x.owner, result_$x.index = type_$x, op, $place
result_$x.name, result_$x.uses = None, {}
"""
MAKE_RESULTS = "result_$x = [Value(type_, op, at) for at, type_ in enumerate(type_$x, $place)]"
OTHER, OTHERS = "$x.type is not type_$x", "[each.type for each in $x] != type_$x"
CONSTANT, CONSTANTS = "$x.owner.is_constant", "all([each.owner.is_constant for each in $x])"
FOLD = """
if {}:
    folded = op.fold()
    if folded is not None:
        return builder.constants(cls, folded)
"""
REFUSE_RESULTS = """
if {}:
    raise wrong_result(op, {})
"""


def append(builder: Any, op: Op, identity: Key) -> None:
    """Put a new pure op at the point, which mostly is the end of a block, and number it."""
    if builder.before is not None or builder.log is not None:
        return builder.insert(op)
    block, last = builder.block, builder.block.last
    op.block, op.previous, op.next = block, last, None
    if last is None:
        block.first, op.order = op, ORDER_GAP
    else:
        last.next, op.order = op, last.order + ORDER_GAP
    block.last = block.numbering[identity] = op


make, _compile = object.__new__, cache(compile)


def write(cls: type[Op], name: str) -> None:
    """Give an op class its function `build(builder, …)` or `verify(op)`."""
    namespace = _globals(cls)
    exec(_compile(source(cls, name), "<op>", "exec"), namespace)  # only names of fields enter it
    namespace[name].__qualname__ = cls.name
    setattr(cls, name, staticmethod(namespace[name]))


def _globals(cls: type[Op]) -> dict[str, Any]:
    """What the texts refer to: beside the names of this module, what is known of the op."""
    infer, asked = cls.shape_rule, cls.infer_arguments
    # Types and attributes are interned: the rule runs once for each list of them. What a region
    # yields may change, so a rule that looks at one runs each time.
    if infer is not None and not any(field.name in asked for field in cls.region_fields):
        infer = lru_cache(1024)(infer)
    names: dict[str, Any] = {**globals(), "cls": cls, "infer": infer}
    for field in cls.fields:
        x, kind, dtypes = field.name, field.kind, field.rule.dtypes or ()
        keywords = " or ".join(each.keyword for each in field.types)
        names[f"types_{x}"], names[f"default_{x}"] = field.types, field.default
        names[f"keywords_{x}"] = f"{'an' if keywords[:1] in 'aeiou' else 'a'} {keywords}"
        names[f"dtypes_{x}"], names[f"dtype_{x}"] = dtypes, next(iter(dtypes), None)
        names[f"listed_{x}"] = f"a dtype among {', '.join(sorted(each.name for each in dtypes))}"
        if kind is not None:
            names[f"normal_{x}"] = kind.normalise
            names[f"canonical_{x}"] = kind.canonical + (NoneType,) * (field.default is None)
    return names


def source(cls: type[Op], name: str) -> str:
    """The text of one of the functions."""
    inputs = [field for field in cls.fields if field.role is not Role.RESULT]
    parameters = [
        *(field.name for field in inputs if field.default is NO_DEFAULT),
        *(f"types_of_{field.name}" for field in cls.given_results),
        *(f"{each.name}=default_{each.name}" for each in inputs if each.default is not NO_DEFAULT),
    ]
    given, body = f"builder, {', '.join(parameters)}", _build
    if name == "verify":
        given, body = "op", _verify
    lines = "\n".join(filter(None, body(cls).splitlines()))
    return f"def {name}({given}):\n{indent(lines, '    ')}\n"


def _build(cls: type[Op]) -> str:
    operands, attributes, results = cls.operand_fields, cls.attribute_fields, cls.result_fields
    lists = [field for field in operands if field.many]
    lengths = f"attributes += (({_each(lists, 'len($x)', joint=', ')}),)"
    return f"""
try:
{_each(lists, "    $x = tuple($x)")}
{_each(operands, TYPE, TYPES)}
    operands = {_tuple(operands)}
except (AttributeError, TypeError):
    raise not_a_value({_each(operands, "$x=$x", joint=", ")}) from None
{_refuse(operands)}
{_each(attributes, NORMALISE)}
attributes = {_tuple(attributes)}
{lengths if cls.segmented else ""}
{LOOK_UP if cls.numbered else ""}
{_each(cls.given_results, "type_$x = types_of_$x")}
{_derive(cls)}
op = make(cls)
op.operands, op.attributes, op.regions = operands, attributes, {_tuple(cls.region_fields)}
op.location, op.block = builder.location, None
{_each(results, MAKE_RESULT, MAKE_RESULTS)}
op.results = results = {_tuple(results, "result_$x")}
{"op.check()" if cls.check is not Op.check else ""}
{FOLD.format(_each(operands, CONSTANT, CONSTANTS, " and ")) if cls.foldable else ""}
{_loop(operands, "$x", "$one.uses[op] = None")}
{_each(cls.region_fields, "$x.parent = op")}
{"append(builder, op, identity)" if cls.numbered else "builder.insert(op)"}
return results
"""


def _verify(cls: type[Op]) -> str:
    operands, results, given = cls.operand_fields, cls.result_fields, cls.given_results
    derived = [field for field in results if field not in given]
    other = _each(derived, OTHER, OTHERS, " or ")
    return f"""
try:
    {_tuple(cls.attribute_fields)} = op.attributes{"[:-1]" * cls.segmented}
{_each(operands, "    $x = op.$x") if cls.segmented else f"    {_tuple(operands)} = op.operands"}
    {_tuple(cls.region_fields)} = op.regions
    {_tuple(results)} = op.results
{_each((*operands, *given), TYPE, TYPES)}
except (IndexError, ValueError):
    raise wrong_count(op) from None
{_each(cls.attribute_fields, REFUSE_ATTRIBUTE)}
{_refuse((*operands, *given))}
{_derive(cls)}
{REFUSE_RESULTS.format(other, _tuple(results, "type_$x")) if derived else ""}
{"op.check()" if cls.check is not Op.check else ""}
"""


def _derive(cls: type[Op]) -> str:
    """Locals `type_x` for the results whose types follow from the rest."""
    results, asked = cls.result_fields, cls.infer_arguments
    if cls.shape_rule is None:
        return _each([field for field in results if field.rule.like], "type_$x = $ruled")
    operands = {field.name for field in cls.operand_fields}
    given = ", ".join(f"type_{name}" if name in operands else name for name in asked)
    single = len(results) == 1 and not results[0].many
    return f"{_each(results, 'type_$x') if single else _tuple(results, 'type_$x')} = infer({given})"


def _refuse(fields: Iterable[Field]) -> str:
    """Refuses types, in the locals `type_x`, that the fields do not take."""
    free = [field for field in fields if field.rule.like is None]
    # What refers to another field is checked after it, which then is known to have a shape.
    return (
        _loop([field for field in free if field.types], "type_$x", REFUSE_CLASS)
        + _loop([field for field in free if field.rule.dtypes], "type_$x", REFUSE_DTYPE)
        + _loop([field for field in fields if field.rule.like], "type_$x", REFUSE_OTHER)
    )


def _loop(fields: Iterable[Field], over: str, text: str) -> str:
    """`text` for each field, where `$one` is `over`, or for a list of values each element of it."""
    inside = indent(text.replace("$one", "each"), "    ")
    return _each(fields, text.replace("$one", over), f"for each in {over}:\n{inside}")


def _each(fields: Iterable[Field], one: str, several: str = "", joint: str = "\n") -> str:
    """`one` for each field, or `several`, where it is stated, if the field stands for a list."""
    texts: list[str] = []
    for place, field in enumerate(fields):
        text = several if several and field.many else one
        x, like = field.name, field.rule.like
        ruled = f"type_{like}" + f".with_dtype(dtype_{x})" * bool(field.rule.dtypes)
        text = text.replace("$ruled", ruled).replace("$place", str(place))
        texts.append(text.replace("$like", str(like)).replace("$x", x))
    return joint.join(texts)


def _tuple(fields: Iterable[Field], one: str = "$x") -> str:
    """`one` for each field as a tuple, in which a list is unpacked."""
    text = _each(fields, one, f"*{one}", ", ")
    return f"({text})" if ", " in text or not text else f"({text},)"


def not_a_value(**given: Any) -> Unmet:
    """The error for an operand that is no value of the IR."""
    for name, one in given.items():
        for part in cast(tuple[Any, ...], one if isinstance(one, tuple | list) else (one,)):
            if not isinstance(part, Value):
                return Unmet(f"{name} is {part!r:.60}, not a value")
    return Unmet("a list of operands is not a list of values")


def wrong_count(op: Op) -> Unmet:
    """The error for too many or too few operands, attributes, regions or results."""
    counts = (f"{len(getattr(op, role.value))} {role.value}" for role in Role)
    return Unmet(f"it has {', '.join(counts)}")


def wrong_type(name: str, found: Any, *expected: Any) -> Unmet:
    """The error for a type that a field does not take."""
    return Unmet(f"{name} has type {found}, expected {''.join(map(str, expected))}")


def wrong_result(op: Op, expected: tuple[Any, ...]) -> Unmet:
    """The error for results whose types do not follow from operands and attributes."""
    found = ", ".join(result.type.text for result in op.results)
    return Unmet(f"the result has type {found}, expected {', '.join(map(str, expected))}")
