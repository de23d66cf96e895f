"""Random bits: the known answers of Random123, and one stream however it is cut."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import u32
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.tensor.random import philox
from brimstone.ir.types import Tensor
from kit.evaluate import Array, evaluate, fold, folded

# Counter, key and answer, of kat_vectors for philox4x32 with 10 rounds.
KNOWN = [
    (
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    ),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]
KEY = np.array([0x12345678, 0x9ABCDEF0], np.uint32)


def words(text: str) -> Array:
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter: str, key: str, answer: str) -> None:
    assert philox(words(counter), words(key)).tolist() == words(answer).tolist()


def test_many_counters_at_once() -> None:
    counters = np.stack([words(counter) for counter, _, _ in KNOWN])
    together = philox(counters, KEY)
    assert together.tolist() == [philox(each, KEY).tolist() for each in counters]


def test_the_stream_starts_with_the_known_answer() -> None:
    zero = np.zeros(2, np.uint32)
    found = evaluate(tensor.RandomBits, zero, shape=(2, 3))
    assert found.ravel()[:4].tolist() == words(KNOWN[0][2]).tolist()


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 4, 5, 7, 8])
def test_any_part_is_a_part_of_the_stream(offset: int) -> None:
    stream = evaluate(tensor.RandomBits, KEY, shape=(24,))
    part = evaluate(tensor.RandomBits, KEY, shape=(3, 5), offset=offset)
    assert part.ravel().tolist() == stream[offset : offset + 15].tolist()


def test_far_blocks_count_in_two_words() -> None:
    offset = 4 * (2**32 + 5)
    found = evaluate(tensor.RandomBits, KEY, shape=(4,), offset=offset)
    assert found.tolist() == philox(np.array([5, 1, 0, 0], np.uint32), KEY).tolist()
    last = evaluate(tensor.RandomBits, KEY, shape=(4,), offset=2**63 - 4)
    block = np.array([2**32 - 1, 2**29 - 1, 0, 0], np.uint32)
    assert last.tolist() == philox(block, KEY).tolist()


def test_shapes() -> None:
    assert evaluate(tensor.RandomBits, KEY, shape=()).shape == ()
    assert evaluate(tensor.RandomBits, KEY, shape=(3, 0, 2)).shape == (3, 0, 2)
    assert evaluate(tensor.RandomBits, KEY, shape=(1,) * 8).shape == (1,) * 8


def test_the_bits_look_random() -> None:
    bits = np.unpackbits(evaluate(tensor.RandomBits, KEY, shape=(1024,)).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 0.01


def test_symbolic_sizes() -> None:
    """A size and an offset that are known only when the program runs."""
    n = Symbol("n")
    func = Func("f", [Tensor((2,), u32)], (n,))
    builder = Builder(func.body)
    made = builder.emit(tensor.RandomBits, func.arguments[0], shape=(n, 2), offset=n)
    builder.emit_all(Return, [made])
    module = parse(print_module(Module([func])), "test")
    (found,) = interpret(module, KEY, sizes={"n": 3})
    stream = evaluate(tensor.RandomBits, KEY, shape=(9,))
    assert found.tolist() == stream[3:].reshape(3, 2).tolist()


def test_folding_waits_for_sizes_that_are_not_known() -> None:
    assert folded(tensor.RandomBits, KEY, shape=(2,))
    assert fold(tensor.RandomBits, KEY, shape=(2,), offset=Symbol("n")) is None
    assert fold(tensor.RandomBits, KEY, shape=(1000,)) is None


@pytest.mark.parametrize("many", [(), (1,), (3,), (2, 3), (0,), (2, 0)])
def test_each_of_several_keys_has_its_stream(many: tuple[int, ...]) -> None:
    keys = np.random.default_rng(0).integers(0, 2**32, (*many, 2), np.uint32)
    found = evaluate(tensor.RandomBits, keys, shape=(3, 2), offset=5)
    assert found.shape == (*many, 3, 2)
    for place in np.ndindex(many):
        alone = evaluate(tensor.RandomBits, keys[place], shape=(3, 2), offset=5)
        assert found[place].tolist() == alone.tolist()


def test_wrong_keys_and_offsets_are_refused() -> None:
    with pytest.raises(VerifyError, match=r"the key is tensor<\[3\], u32>, expected tensor<\[2\]"):
        evaluate(tensor.RandomBits, np.zeros(3, np.uint32), shape=(2,))
    with pytest.raises(VerifyError, match=r"the key is tensor<\[\], u32>, expected tensor<\[2\]"):
        evaluate(tensor.RandomBits, np.zeros((), np.uint32), shape=(2,))
    with pytest.raises(VerifyError, match="expected a dtype among u32"):
        evaluate(tensor.RandomBits, np.zeros(2, np.int32), shape=(2,))
    with pytest.raises(VerifyError, match="the offset is negative: -1"):
        evaluate(tensor.RandomBits, KEY, shape=(2,), offset=-1)


def test_an_offset_that_turns_out_negative_fails_when_the_program_runs() -> None:
    n = Symbol("n")
    func = Func("f", [Tensor((2,), u32)], (n,))
    builder = Builder(func.body)
    made = builder.emit(tensor.RandomBits, func.arguments[0], shape=(2,), offset=n - 5)
    builder.emit_all(Return, [made])
    with pytest.raises(ExecutionError, match="the offset is negative: -2"):
        interpret(func, KEY, sizes={"n": 3})
