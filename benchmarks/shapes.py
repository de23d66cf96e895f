"""The shapes of real work, as `shapes.json` lists them, and inputs of these shapes."""

import json
from pathlib import Path
from typing import Any

import numpy as np

SHAPES: dict[str, Any] = json.loads((Path(__file__).with_suffix(".json")).read_text())


def normal(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """f32 arrays of numbers from the normal distribution, the same in every process."""
    generator = np.random.default_rng(0)
    return [generator.standard_normal(shape, dtype=np.float32) for shape in shapes]


def counted(size: int) -> str:
    """`64 Ki`, `16 Mi`."""
    for unit, name in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)
