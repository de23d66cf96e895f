"""How a pass is declared: a function of a func and a context, with its options as keywords.

    @pipeline_pass("simplify")
    def simplify(func: Func, context: Context, *, rounds: int = 3) -> None:
        \"\"\"Algebra that never changes a result's bits.\"\"\"

Comes in: such a function. Goes out: a `Pass`, which can still be called as the function, and knows
the kinds of its options from their annotations (int, bool, float, str, an enumeration, a list).
Never: a registry; `pipelines` lists the passes that have a name on the command line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, getdoc, signature
from typing import TYPE_CHECKING, Any

from ..ir.attributes import Kind, kind_of
from ..ir.errors import Unmet
from ..ir.func import Func
from ..ir.payloads import Number

if TYPE_CHECKING:
    from .context import Context

PassFunction = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a pass: its kind of value, as of an op's attribute, and its default."""

    name: str
    kind: Kind
    default: Any

    def canonical(self, value: Any) -> Any:
        """The value as the pass gets it, or `Unmet`."""
        value = self.kind.normalise(value)
        return value.value if isinstance(value, Number) else value

    def text(self, value: Any) -> str:
        """`name=value`"""
        return f"{self.name}={self.kind.text(self.kind.normalise(value))}"


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass: its name, the first line of its docstring, its function and its options."""

    name: str
    summary: str
    function: PassFunction
    options: Mapping[str, Option]

    def __call__(self, func: Func, context: "Context", **options: Any) -> None:
        self.function(func, context, **options)

    def with_options(self, **options: Any) -> "Step":
        """This pass as a step of a pipeline, with some options set."""
        return Step(self, {name: self._canonical(name, value) for name, value in options.items()})

    def _canonical(self, name: str, value: Any) -> Any:
        if name not in self.options:
            known = ", ".join(self.options) or "none"
            raise Unmet(f"the pass {self.name} has no option '{name}' (its options: {known})")
        try:
            return self.options[name].canonical(value)
        except Unmet as problem:
            raise Unmet(f"the option {name} of {self.name}: {problem}") from None

    def __str__(self) -> str:
        defaults = ", ".join(each.text(each.default) for each in self.options.values())
        return f"{self.name}{{{defaults}}}" if defaults else self.name


@dataclass(frozen=True)
class Step:
    """A pass with some of its options set; as text `simplify{rounds=3}`."""

    made_from: Pass
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self.made_from.name

    def __call__(self, func: Func, context: "Context") -> None:
        self.made_from(func, context, **self.options)

    def __str__(self) -> str:
        known = self.made_from.options
        chosen = ", ".join(known[name].text(value) for name, value in self.options.items())
        return f"{self.name}{{{chosen}}}" if chosen else self.name


def pipeline_pass(name: str) -> Callable[[PassFunction], Pass]:
    """Make a function a pass; what follows its func and context must be options with defaults."""

    def declare(function: PassFunction) -> Pass:
        summary = (getdoc(function) or "").split("\n")[0]
        if not summary:
            raise TypeError(f"the pass {name} has no docstring")
        _, _, *rest = signature(function, eval_str=True).parameters.values()
        return Pass(name, summary, function, {each.name: _option(name, each) for each in rest})

    return declare


def _option(name: str, parameter: Parameter) -> Option:
    if parameter.kind is not Parameter.KEYWORD_ONLY or parameter.default is Parameter.empty:
        raise TypeError(f"{parameter.name}, an option of the pass {name}, needs a * and a default")
    return Option(parameter.name, kind_of(parameter.annotation), parameter.default)
