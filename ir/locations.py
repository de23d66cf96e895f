"""Where an op comes from: the lines of the user's program, one or, after fusion, several.

Comes in: files and line numbers. Goes out: interned `Location`s, compared with `is`.
Never: a frame or any other live object of the user's program.
"""

Place = tuple[str, int]


class Location:
    """An interned, ordered set of places `(file, line)`; empty where nothing is known."""

    __slots__ = ("places",)
    places: tuple[Place, ...]

    def __new__(cls, *places: Place) -> "Location":
        found = _LOCATIONS.get(places)
        if found is None:
            made = object.__new__(cls)
            made.places = tuple(dict.fromkeys(places))
            found = _LOCATIONS.setdefault(places, _LOCATIONS.setdefault(made.places, made))
        return found

    def union(self, other: "Location") -> "Location":
        """Both sets of places, this one's first."""
        if other is self or not other.places:
            return self
        return Location(*self.places, *other.places) if self.places else other

    def __bool__(self) -> bool:
        return bool(self.places)

    def __str__(self) -> str:
        return ", ".join(f"{file}:{line}" for file, line in self.places)

    def __repr__(self) -> str:
        return f"Location({self})"

    def __reduce__(self) -> tuple[type["Location"], tuple[Place, ...]]:
        return Location, self.places


_LOCATIONS: dict[tuple[Place, ...], Location] = {}
UNKNOWN = Location()
