"""Functions that programs of the tests call by name: kernels and host functions, good and bad."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

not_a_function = 3


def scaled(x: Array, settings: dict[str, Any]) -> Array:
    return (x * settings["by"]).astype(x.dtype)


def settings_as_they_come(settings: dict[str, Any]) -> Array:
    expected = {"rows": 5, "names": ("a", "b"), "nested": {"on": True, "size": 10}}
    return np.asarray(settings == expected)


def total(x: Array, settings: dict[str, Any]) -> Any:
    return x.sum(dtype=x.dtype)


def quotient(left: Array, right: Array, settings: dict[str, Any]) -> tuple[Array, Array]:
    return left // right, left % right


def wrong_dtype(x: Array, settings: dict[str, Any]) -> Array:
    return x.astype(np.float64)


def wrong_shape(x: Array, settings: dict[str, Any]) -> Array:
    return x[:1]


def no_array(x: Array, settings: dict[str, Any]) -> object:
    return [1.0, 2.0]


def writes_its_argument(x: Array, settings: dict[str, Any]) -> Array:
    x[...] = 0
    return x


def raises(x: Array, settings: dict[str, Any]) -> Array:
    raise KeyError("nothing here")


def add_into(left: Array, right: Array, written: Array) -> None:
    written[...] = left + right


def write_first(read: Array, written: Array) -> None:
    read[...] = 0


def returns(read: Array, written: Array) -> Array:
    return read


def count_calls(written: Array) -> None:
    written += 1


def doubled(x: Array) -> Array:
    return x * 2


def parts(x: Array) -> tuple[Array, Any]:
    return x[::-1], x.sum(dtype=x.dtype)


def fails(x: Array) -> Array:
    raise KeyError("nothing here")


def changes_its_argument(x: Array) -> Array:
    x[...] = 0
    return x


def wider(x: Array) -> Array:
    return x.astype(np.float64)


def shorter(x: Array) -> Array:
    return x[:1]


def listed(x: Array) -> object:
    return [1.0, 2.0]


def twice(x: Array) -> tuple[Array, Array]:
    return x, x
