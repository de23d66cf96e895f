"""Where an op comes from: the lines of the user's program, one or, after fusion, several.

Comes in: files and line numbers. Goes out: interned `Location`s, compared with `is`.
Never: a frame or any other live object of the user's program.
"""

Place = tuple[str, int]


class Location(tuple[Place, ...]):
    """An interned, ordered set of places `(file, line)`; empty where nothing is known."""

    __slots__ = ()

    def __new__(cls, *places: Place) -> "Location":
        found = _LOCATIONS.get(places)
        if found is None:
            made = super().__new__(cls, dict.fromkeys(places))
            found = _LOCATIONS.setdefault(places, _LOCATIONS.setdefault(made, made))
        return found

    def union(self, other: "Location") -> "Location":
        """Both sets of places, this one's first."""
        return self if other is self else Location(*self, *other)

    def __repr__(self) -> str:
        return ", ".join(f"{file}:{line}" for file, line in self)

    def __reduce__(self) -> tuple[type["Location"], tuple[Place, ...]]:
        return Location, tuple(self)


_LOCATIONS: dict[tuple[Place, ...], Location] = {}
UNKNOWN = Location()
