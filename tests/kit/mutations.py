"""Texts that are nearly IR: what a slip of the hand, or malice, makes of a good text.

Comes in: good texts and a seed. Goes out: as many broken ones as asked for, the same in every run;
half of them changed by characters, half by tokens, types, sizes and nesting.
Never: a claim that a text is wrong; some mutants are still IR.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

TOKEN = re.compile(r"[%@]?[A-Za-z0-9_.]+|\s+|\S")
INTEGER = re.compile(r"\b\d+\b")
TYPE = re.compile(r"\b(?:tensor|tile|array)<\[[^\]]*\], \w+>")
CHARACTERS = '%@{}[]()<>:=,.-+*/"\\\n\t 019anx_\0é∞\U0001f525'
DEEP = 10_000
SIZES = (
    "0", "-1", "1", str(2**31), str(2**63 - 1), str(2**63), str(2**80), "-" + str(2**80),
    "9" * 5000, "1e400", "0x" + "f" * 40, "n*n*n*n", "ceildiv(n, 0)", "min()", "(n + 1)*(n - 1)",
    "*".join(["(n + m + 1)"] * 60), "max(" + ", ".join(f"n*{k}" for k in range(400)) + ")",
)  # fmt: skip
TYPES = (
    "tensor<[], f32>", "tensor<[0], i8>", "tensor<[2], bool>", "tensor<[n], f64>", "scalar<i64>",
    "tile<[4], f32>", "tile<[n], f32>", "vec<16, f32>", "vec<-1, f32>", "buffer<f32, global>",
    "fragment<16, 16, f16, left>", "view<2, f32, {}>", "array<[n], u8>", "tensor", "tensor<>",
    "tensor<[1, 1, 1, 1, 1, 1, 1, 1], c64>", "tensor<[" + "1, " * 40 + "1], f32>", "float",
)  # fmt: skip
NESTED = (
    ("[", "]"), ("(", ")"), ("{a: ", "}"), ("tensor<[", "], f32>"), ("min(n, ", ")"), ("-", ""),
    ("tensor.cond %p () {\n", "}\n"), ("tensor.while %x (%y: tensor<[], f32>) {\n", "}\n"),
)  # fmt: skip

Mutation = Callable[[Random, str], str]


def mutants(texts: Sequence[str], count: int, seed: int = 0) -> Iterator[str]:
    """`count` mutants, each of one to four mutations of one of the texts."""
    random = Random(seed)
    for place in range(count):
        text = random.choice(texts)
        kinds = BY_CHARACTER if place % 2 else BY_TOKEN
        for _ in range(random.choice((1, 1, 2, 4))):
            text = random.choice(kinds)(random, text)
        yield text


# By character.


def delete_characters(random: Random, text: str) -> str:
    start, stop = _part(random, text, 3)
    return text[:start] + text[stop:]


def insert_character(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(CHARACTERS) + text[at:]


def replace_character(random: Random, text: str) -> str:
    start, stop = _part(random, text, 1)
    return text[:start] + random.choice(CHARACTERS) + text[stop:]


def repeat_part(random: Random, text: str) -> str:
    start, stop = _part(random, text, 80)
    return text[:stop] + text[start:stop] + text[stop:]


def move_part(random: Random, text: str) -> str:
    start, stop = _part(random, text, 40)
    rest = text[:start] + text[stop:]
    at = random.randint(0, len(rest))
    return rest[:at] + text[start:stop] + rest[at:]


def cut_off(random: Random, text: str) -> str:
    return text[: random.randint(0, len(text))]


# By token.


def delete_token(random: Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    del tokens[_at(random, tokens)]
    return "".join(tokens)


def repeat_token(random: Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    at = _at(random, tokens)
    return "".join([*tokens[:at], tokens[at], tokens[at], *tokens[at + 1 :]])


def swap_tokens(random: Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    one, other = _at(random, tokens), _at(random, tokens)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def copy_token(random: Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    tokens[_at(random, tokens)] = random.choice(tokens)
    return "".join(tokens)


def swap_lines(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    one, other = _at(random, lines), _at(random, lines)
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def change_size(random: Random, text: str) -> str:
    return _replaced(random, text, INTEGER, random.choice(SIZES))


def change_type(random: Random, text: str) -> str:
    return _replaced(random, text, TYPE, random.choice(TYPES))


def nest(random: Random, text: str) -> str:
    opening, closing = random.choice(NESTED)
    times = DEEP if random.random() < 0.05 else random.choice((2, 10, 70))
    start, stop = _part(random, text, 20)
    return text[:start] + opening * times + text[start:stop] + closing * times + text[stop:]


BY_CHARACTER: tuple[Mutation, ...] = (
    delete_characters, insert_character, replace_character, repeat_part, move_part, cut_off,
)  # fmt: skip
BY_TOKEN: tuple[Mutation, ...] = (
    delete_token, repeat_token, swap_tokens, copy_token, swap_lines, change_size, change_type, nest,
)  # fmt: skip


def _part(random: Random, text: str, longest: int) -> tuple[int, int]:
    start = random.randint(0, max(len(text) - 1, 0))
    return start, min(start + random.randint(1, longest), len(text))


def _at(random: Random, parts: list[str]) -> int:
    if not parts:
        parts.append(" ")
    return random.randrange(len(parts))


def _replaced(random: Random, text: str, pattern: re.Pattern[str], by: str) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    matched = random.choice(found)
    return text[: matched.start()] + by + text[matched.end() :]
