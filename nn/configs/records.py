"""Settings that have names: dataclasses, and choices between them.

Comes in: a dataclass, or what JSON has for it. Goes out: the other of the two. Where several
classes may stand, the name "class", which no field can have, tells which one it is.
Never: a class that is not among those declared, whatever the text names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, get_type_hints

from ...ir.shared.properties import cached_property
from .misfit import Misfit, Problem, gathered, misfit, nearest, refuse
from .scalars import Kind

TAG = "class"


class Record:
    """A dataclass; `kind_of` says what the types of its fields mean."""

    def __init__(self, cls: type, kind_of: Callable[[Any], Kind]) -> None:
        self.cls, self._kind_of = cls, kind_of
        self.words = f"an object, a {cls.__name__}"

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What each field is; asked late, as classes may contain each other."""
        try:
            types = get_type_hints(self.cls)
        except NameError as error:
            raise misfit(f"an annotation of {self.cls.__name__} is unknown: {error}") from error
        return {each.name: self._kind_of(types[each.name]) for each in self._fields()}

    def write(self, value: Any) -> dict[str, Any]:
        """Layer(3) -> {"width": 3}"""
        if type(value) is not self.cls:
            refuse(f"a {self.cls.__name__}", value)
        kinds = self.kinds.items()
        made = gathered((name, kind.write, getattr(value, name)) for name, kind in kinds)
        return dict(zip(self.kinds, made, strict=True))

    def read(self, data: Any) -> Any:
        """{"width": 3} -> Layer(3)"""
        if not isinstance(data, dict):
            refuse(self.words, data)
        given = {name: item for name, item in data.items() if name != TAG}
        known = {name: kind for name, kind in self.kinds.items() if name in given}
        parts = [(name, kind.read, given[name]) for name, kind in known.items()]
        made = gathered(parts, self._misnamed(data) + self._unknown(given) + self._missing(given))
        return self._made(dict(zip(known, made, strict=True)))

    def _made(self, given: dict[str, Any]) -> Any:
        try:
            return self.cls(**given)
        except (TypeError, ValueError) as error:
            raise misfit(f"{self.cls.__name__} refuses it: {error}") from error

    def _fields(self) -> list[Field[Any]]:
        return [each for each in fields(self.cls) if each.init]

    def _misnamed(self, data: dict[str, Any]) -> list[Problem]:
        own = self.cls.__name__
        if data.get(TAG, own) == own:
            return []
        return [((TAG,), f"expected {own!r}, got {data[TAG]!r:.60}")]

    def _unknown(self, given: dict[str, Any]) -> list[Problem]:
        free = [name for name in self.kinds if name not in given]
        return [
            ((name,), f"{self.cls.__name__} has no such field{nearest(name, free)}")
            for name in given
            if name not in self.kinds
        ]

    def _missing(self, given: dict[str, Any]) -> list[Problem]:
        return [
            ((each.name,), "is missing")
            for each in self._fields()
            if each.name not in given and each.default is each.default_factory is MISSING
        ]


@dataclass(frozen=True)
class OneOf:
    """A union."""

    kinds: tuple[Kind, ...]

    @property
    def words(self) -> str:
        """What is expected."""
        return " or ".join([kind.words for kind in self.kinds])

    @property
    def _records(self) -> dict[str, Record]:
        return {kind.cls.__name__: kind for kind in self.kinds if isinstance(kind, Record)}

    def write(self, value: Any) -> Any:
        """What its kind writes, in a form that is read again as the same."""
        record = self._records.get(type(value).__name__)
        if record is not None:
            tag = {TAG: type(value).__name__} if len(self._records) > 1 else {}
            return tag | record.write(value)
        made = self._first(value, [kind.write for kind in self._for(value)])
        again = self.read(made)
        # NaN is not equal to itself, but looks the same; a whole number may stand for a float.
        if repr(again) != repr(value) and (type(value), type(again)) != (int, float):
            raise misfit(f"{value!r:.60} would be read again as {again!r:.60}")
        return made

    def read(self, data: Any) -> Any:
        """What the kind reads that fits: one for just this type, else the first."""
        records = self._records
        if not isinstance(data, dict) or not records:
            return self._first(data, [kind.read for kind in self._for(data)])
        if len(records) == 1:
            return next(iter(records.values())).read(data)
        name = data.get(TAG)
        if name not in records:
            known = " or ".join(map(repr, records))
            raise misfit(f"expected {known}, got {name!r:.60}", TAG)
        return records[name].read(data)

    def _for(self, data: Any) -> list[Kind]:
        """The kinds, those of just this type first."""
        return sorted(self.kinds, key=lambda kind: getattr(kind, "cls", None) is not type(data))

    def _first(self, value: Any, functions: list[Callable[[Any], Any]]) -> Any:
        """What the first function gives that takes the value. What is wrong inside of it, says the
        one that got further than to its type."""
        inside: Misfit | None = None
        for function in functions:
            try:
                return function(value)
            except Misfit as found:
                if any([path for path, _ in found.problems]):
                    inside = inside or found
        if inside is not None:
            raise inside
        refuse(self.words, value)
