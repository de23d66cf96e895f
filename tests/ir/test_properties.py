"""Properties that are computed once."""

from typing import Any

import pytest

from brimstone.ir.shared.properties import cached_property


class Square:
    def __init__(self, side: float) -> None:
        self.side, self.computed = side, 0

    @cached_property
    def area(self) -> float:
        """The side times itself."""
        self.computed += 1
        return self.side**2


def test_a_value_is_computed_when_it_is_read_and_kept() -> None:
    square = Square(3)
    assert (square.computed, "area" in square.__dict__) == (0, False)
    assert [square.area, square.area, square.computed] == [9, 9, 1]
    other = Square(2)
    assert [other.area, square.area] == [4, 9]


def test_an_error_is_not_kept() -> None:
    square: Any = Square(3)
    square.side = None
    with pytest.raises(TypeError):
        _ = square.area
    square.side = 4
    assert square.area == 16


def test_the_class_has_the_property_itself() -> None:
    assert isinstance(Square.area, cached_property)
    assert Square.area.__doc__ == "The side times itself."
