"""Axes in another order, one of which is short: code for each processor, and what it gives here."""

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import parse
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.passes.fuse import fuse
from brimstone.passes.tiling import tile
from brimstone.targets.llvm.machines import CPU, MODELS
from brimstone.targets.llvm.schedules import chooser
from kit.lowered import in_tiles

TURNED = """
func @turned<n: 2..99999, m: 2..99999>(%x: tensor<[n, {first}, {last}], {dtype}>)
    -> tensor<[n, {last}, {first}], {dtype}> {{
  %y = tensor.permute %x {{axes = [0, 2, 1]}} : tensor<[n, {last}, {first}], {dtype}>
  return %y
}}
"""


@pytest.mark.parametrize("machine", MODELS.values(), ids=lambda machine: machine.name)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i8", "bf16"])
@pytest.mark.parametrize("short", range(2, 9))
def test_every_processor_has_code(machine: CPU, dtype: str, short: int) -> None:
    for first, last in ((short, "m"), ("m", short)):
        module = parse(TURNED.format(first=first, last=last, dtype=dtype))
        made = tile(fuse(module.main).module, chooser(machine))
        assert not made.refused
        (kernel,) = made.kernels
        bind_cpu(made.module[kernel], machine)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex64"])
@pytest.mark.parametrize("short", [2, 3, 5, 8])
def test_elements_are_dealt_out_and_taken_apart(dtype: str, short: int) -> None:
    deal = bs.jit(lambda x: bs.permute_dims(bs.reshape(x, (3, short, -1)), (0, 2, 1)))
    part = bs.jit(lambda x: bs.permute_dims(bs.reshape(x, (3, -1, short)), (0, 2, 1)))
    with bs.device("cpu"):
        for long in (1, 2, 19, 67):
            given = np.arange(3 * short * long).astype(dtype)
            x = bs.asarray(given)
            dealt = given.reshape(3, short, long).transpose(0, 2, 1)
            parted = given.reshape(3, long, short).transpose(0, 2, 1)
            np.testing.assert_array_equal(deal(x).numpy(), dealt)
            np.testing.assert_array_equal(part(x).numpy(), parted)


TOTALS = {"sum": np.sum, "max": np.max, "mean": np.mean, "count_nonzero": np.count_nonzero}


@pytest.mark.parametrize("axes", [(1, 0), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("name", TOTALS)
def test_a_total_beside_what_is_turned(name: str, dtype: str, axes: tuple[int, ...]) -> None:
    """Its chunks are of the axis that was counted, and all of what is turned is written."""

    def both(x: bs.Tensor) -> tuple[bs.Tensor, bs.Tensor]:
        turned = bs.permute_dims(x, axes) * 2
        return getattr(bs, name)(turned), turned

    function = bs.jit(both)
    for sizes in ((64, 33, 3), (64, 16, 5), (1000, 16, 1), (33, 64, 7), (17, 5, 40), (2, 300, 9)):
        shape = sizes[: len(axes)]
        x = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
        with bs.device("cpu"):
            total, turned = function(bs.asarray(x))
        expected = x.transpose(axes) * x.dtype.type(2)
        np.testing.assert_array_equal(turned.numpy(), expected)
        wide = expected.astype(np.float64 if expected.dtype.kind == "f" else np.int64)
        np.testing.assert_allclose(total.numpy(), TOTALS[name](wide), rtol=1e-5)


@pytest.mark.parametrize(("dtype", "rows"), [("float32", 4), ("float64", 2)])
def test_functions_of_what_is_turned_are_written_out_for_few_rows(dtype: str, rows: int) -> None:
    def function(x: bs.Tensor) -> bs.Tensor:
        turned = bs.permute_dims(x, (1, 0))
        return bs.sin(turned) * bs.cos(turned) + bs.tan(turned)

    made = in_tiles(function, bs.zeros((130, 170), dtype=dtype), machine=MODELS["avx512"])
    (name,) = made.kernels
    assert made.module[name].attributes["tile"]["m"] == rows
