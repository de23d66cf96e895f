"""Functions that printed kernels call where Triton has none of that meaning.

Comes in: the name of a helper. Goes out: its source; `needed_by` lists what it calls itself.
Never: a kernel. The source of a kernel holds those that it uses.
"""

NEEDS = {"random_word": ("philox",), "signed_power": ("power",)}

SUMS = '''
@triton.jit
def sum_of(a, b):
    return a + b


@triton.jit
def product_of(a, b):
    return a * b


@triton.jit
def all_bits(a, b):
    return a & b


@triton.jit
def any_bits(a, b):
    return a | b


@triton.jit
def maximum_of(a, b):
    """The larger one; NaN wins."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def minimum_of(a, b):
    """The smaller one; NaN wins."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def first_maximum(a, i, b, j):
    """The larger one with its place: of equals the first, and of NaNs the first if any."""
    left = ((a != a) & ((b == b) | (i < j))) | (a > b) | ((a == b) & (i < j))
    return tl.where(left, a, b), tl.where(left, i, j)


@triton.jit
def first_minimum(a, i, b, j):
    """The smaller one with its place: of equals the first, and of NaNs the first if any."""
    left = ((a != a) & ((b == b) | (i < j))) | (a < b) | ((a == b) & (i < j))
    return tl.where(left, a, b), tl.where(left, i, j)
'''

INTEGERS = '''
@triton.jit
def quotient(a, b):
    """a / b, truncated; by zero it is 0, and the least number by -1 wraps."""
    safe = tl.where((b == 0) | (b == -1), 1, b)
    return tl.where(b == 0, 0, tl.where(b == -1, 0 - a, a // safe))


@triton.jit
def unsigned_quotient(a, b):
    """a / b; by zero it is 0."""
    return tl.where(b == 0, 0, a // tl.where(b == 0, 1, b))


@triton.jit
def remainder(a, b):
    """What a / b leaves, with a's sign; by zero it is 0."""
    safe = tl.where((b == 0) | (b == -1), 1, b)
    return tl.where(safe == b, a % safe, 0)


@triton.jit
def unsigned_remainder(a, b):
    """What a / b leaves; by zero it is 0."""
    return tl.where(b == 0, 0, a % tl.where(b == 0, 1, b))


@triton.jit
def power(base, exponent, bits: tl.constexpr):
    """base to the exponent, wrapped."""
    result = base * 0 + 1
    for bit in tl.static_range(bits):
        result = tl.where(((exponent >> bit) & 1) != 0, result * base, result)
        base = base * base
    return result


@triton.jit
def signed_power(base, exponent, bits: tl.constexpr):
    """base to the exponent, wrapped; to a negative one, 1 divided by the power."""
    odd = (exponent & 1) != 0
    unit = tl.where(base == 1, 1, tl.where(base == -1, tl.where(odd, -1, 1), 0))
    return tl.where(exponent < 0, unit.to(base.dtype), power(base, exponent, bits))


@triton.jit
def shift_left(x, amount, bits: tl.constexpr):
    """x << amount; from the width on, and for negative amounts, 0."""
    inside = (amount >= 0) & (amount < bits)
    return tl.where(inside, x << tl.where(inside, amount, 0), 0)


@triton.jit
def shift_right(x, amount, bits: tl.constexpr):
    """x >> amount, sign bits coming in; from the width on they are all that is left."""
    inside = (amount >= 0) & (amount < bits)
    return x >> tl.where(inside, amount, bits - 1)


@triton.jit
def unsigned_shift_right(x, amount, bits: tl.constexpr):
    """x >> amount; from the width on, 0."""
    return tl.where(amount < bits, x >> tl.where(amount < bits, amount, 0), 0)
'''

CASTS = '''
@triton.jit
def saturated(x, low: tl.constexpr, high: tl.constexpr, dtype: tl.constexpr):
    """A float as an integer: truncated, at most the least or the largest one; NaN is 0."""
    bound = tl.full([], high, tl.float64) + 1.0
    above = x.to(tl.float64) >= bound
    below = x.to(tl.float64) <= low
    inside = tl.where(above | below | (x != x), 0.0, x).to(dtype)
    least, largest = tl.full([], low, dtype), tl.full([], high, dtype)
    return tl.where(above, largest, tl.where(below, least, inside))


@triton.jit
def odd_float32(x):
    """A float64 as a float32 that rounds on as it would itself: what is lost makes it odd."""
    near = x.to(tl.float32)
    bits = near.to(tl.int32, bitcast=True)
    back = near.to(tl.float64)
    beyond = tl.abs(back) > tl.abs(x)
    odd = (bits - beyond.to(tl.int32)) | 1
    return tl.where((back == x) | (x != x), bits, odd).to(tl.float32, bitcast=True)


@triton.jit
def to_f8e4m3(x):
    """A float32 as a float8e4nv: what is too large is NaN."""
    bits = x.to(tl.float8e4nv).to(tl.uint8, bitcast=True)
    return tl.where(tl.abs(x) <= 464.0, bits, 0x7F).to(tl.uint8).to(tl.float8e4nv, bitcast=True)


@triton.jit
def to_f8e5m2(x):
    """A float32 as a float8e5: what is too large is infinite."""
    bits = x.to(tl.float8e5).to(tl.uint8, bitcast=True)
    infinite = tl.where(x < 0.0, 0xFC, 0x7C)
    bits = tl.where(tl.abs(x) >= 61440.0, infinite, bits).to(tl.uint8)
    return tl.where(x != x, 0x7F, bits).to(tl.uint8).to(tl.float8e5, bitcast=True)
'''

RANDOM = '''
@triton.jit
def philox(block, low_key, high_key):
    """The four words of Philox 4x32-10 at a counter of 64 bits."""
    first, second = block.to(tl.uint32), (block >> 32).to(tl.uint32)
    third, fourth = first * 0, second * 0
    for _ in tl.static_range(10):
        high = tl.umulhi(first, tl.full([], 0xD2511F53, tl.uint32))
        low = first * tl.full([], 0xD2511F53, tl.uint32)
        other_high = tl.umulhi(third, tl.full([], 0xCD9E8D57, tl.uint32))
        other_low = third * tl.full([], 0xCD9E8D57, tl.uint32)
        first, third = other_high ^ second ^ low_key, high ^ fourth ^ high_key
        second, fourth = other_low, low
        low_key = low_key + tl.full([], 0x9E3779B9, tl.uint32)
        high_key = high_key + tl.full([], 0xBB67AE85, tl.uint32)
    return first, second, third, fourth


@triton.jit
def random_word(low_key, high_key, index):
    """That word of the stream of a key."""
    place = index.to(tl.uint64)
    first, second, third, fourth = philox(place >> 2, low_key, high_key)
    wanted = (place & 3).to(tl.int32)
    low = tl.where(wanted == 0, first, second)
    return tl.where(wanted < 2, low, tl.where(wanted == 2, third, fourth))
'''


def _split(texts: str) -> dict[str, str]:
    """The functions of a text, by name."""
    functions = [f"@triton.jit{each.rstrip()}\n" for each in texts.split("@triton.jit")[1:]]
    return {each.partition("def ")[2].partition("(")[0]: each for each in functions}


HELPERS = _split(SUMS + INTEGERS + CASTS + RANDOM)


def needed_by(name: str) -> tuple[str, ...]:
    """The helpers that a source must define, in order, to call this one."""
    return (*NEEDS.get(name, ()), name)
