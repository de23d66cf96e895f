"""Configs as JSON: what is written is read again as the same, and what is wrong is said at once."""

import json
import math
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Optional

import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Layer:
    width: int
    activation: Literal["relu", "gelu"] = "relu"
    dropout: float = 0.0


@dataclass
class Adam:
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)


@dataclass
class Sgd:
    lr: float
    momentum: float | None = None


@dataclass
class Model:
    layers: list[Layer]
    optimiser: Adam | Sgd = field(default_factory=Adam)
    name: Optional[str] = None  # noqa: UP045 - the older spelling, too
    colour: Colour = Colour.RED
    folder: Path = Path("runs")
    sizes: tuple[int, ...] = ()
    limits: dict[str, float] = field(default_factory=dict)
    steps: dict[int, Layer] = field(default_factory=dict)
    by_colour: dict[Colour, bool] = field(default_factory=dict)
    seed: int | str = 0
    notes: Any = None
    made: int = field(init=False, default=7)


@dataclass
class Tree:
    value: int
    children: "list[Tree]" = field(default_factory=list)


@dataclass
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number <= 0:
            raise ValueError(f"{self.number} is not positive")


@dataclass
class Anyhow:
    """One field, of the type that a test gives it."""

    value: Any


FULL = Model(
    layers=[Layer(3), Layer(4, "gelu", math.inf)],
    optimiser=Sgd(0.1, momentum=0.9),
    name="größer",
    colour=Colour.BLUE,
    folder=Path("a/b"),
    sizes=(1, 2, 3),
    limits={"low": -math.inf, "high": 1.5},
    steps={10: Layer(5)},
    by_colour={Colour.RED: True},
    seed="now",
    notes={"list": [1, None, "x"]},
)


def typed(annotation: Any, value: Any = None) -> Any:
    """A config whose only field has a type; with a value it is an object, else the class."""

    class Typed(Anyhow):
        pass

    Typed.__annotations__ = {"value": annotation}
    made = dataclass(Typed)
    return made if value is None else made(value)


@pytest.mark.parametrize("config", [FULL, Model([]), Tree(1, [Tree(2), Tree(3, [Tree(4)])])])
def test_what_is_written_is_read_again(config: Any) -> None:
    text = nn.to_json(config)
    found = nn.from_json(type(config), text)
    assert found == config
    assert nn.to_json(found) == text
    json.loads(text, parse_constant=pytest.fail)  # no NaN or Infinity, which JSON does not have


def test_the_text() -> None:
    assert json.loads(nn.to_json(Sgd(math.nan))) == {"lr": "nan", "momentum": None}
    assert math.isnan(nn.from_json(Sgd, '{"lr": "nan"}').lr)
    model = json.loads(nn.to_json(FULL))
    assert model["optimiser"] == {"class": "Sgd", "lr": 0.1, "momentum": 0.9}
    assert model["colour"] == "BLUE" and model["folder"] == "a/b" and "made" not in model
    assert model["steps"]["10"] == {"width": 5, "activation": "relu", "dropout": 0.0}
    assert nn.to_json(Layer(3)).splitlines()[1] == '  "width": 3,'


def test_fields_that_are_left_out_have_their_defaults() -> None:
    found = nn.from_json(Model, '{"layers": [{"width": 2}], "optimiser": {"class": "Adam"}}')
    assert found == Model([Layer(2)])
    assert isinstance(nn.from_json(Layer, '{"width": 2, "dropout": 1}').dropout, float)
    assert nn.from_json(Layer, '{"class": "Layer", "width": 2}') == Layer(2)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int | float, 1), (int | float, 1.0), (float | int, 2), (float | None, math.nan),
        (bool | int, True), (Colour | int, Colour.RED), (Path | None, Path("x")),
        (tuple[int, str], (1, "a")), (tuple[()], ()), (list, [1, [2.5]]), (dict, {"a": {}}),
        (list[Layer] | None, [Layer(1)]), (Layer | str, Layer(1)), (Layer | str, "x"),
        (Literal[1, True, None, "a"], True), (PurePosixPath, PurePosixPath("a")),
        (dict[Literal["x", "y"], int], {"x": 1}), (Literal["auto"] | int, "auto"),
    ],
    ids=str,
)  # fmt: skip
def test_types(annotation: Any, value: Any) -> None:
    config = typed(annotation, value)
    found = nn.from_json(type(config), nn.to_json(config)).value
    assert repr(found) == repr(value)


def test_initialisers_are_configs() -> None:
    initialiser = nn.KaimingNormal(gain=1.0, fan="out")
    assert nn.from_json(nn.KaimingNormal, nn.to_json(initialiser)) == initialiser


def test_files(tmp_path: Path) -> None:
    nn.save_config(tmp_path / "model.json", FULL)
    nn.save_config(tmp_path / "model.json", FULL)
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]
    assert nn.load_config(Model, tmp_path / "model.json") == FULL
    with pytest.raises(bs.ArgumentError, match=r"model\.json is no Layer\n  layers: Layer has no"):
        nn.load_config(Layer, tmp_path / "model.json")


def test_all_problems_are_said_at_once() -> None:
    text = """{
        "layers": [{"width": 1}, {"widht": 2}, {"width": "x", "activation": "relu6"}],
        "optimiser": {"class": "Adma"}, "colour": "BLU", "sizes": [1, 2.5], "limits": {"low": "a"},
        "steps": {"ten": {"width": 1}}, "name": 3, "spare": null
    }"""
    with pytest.raises(bs.ArgumentError) as found:
        nn.from_json(Model, text)
    assert str(found.value).splitlines()[:-1] == [
        "from_json: the text is no Model",
        "  spare: Model has no such field",
        "  layers.1.widht: Layer has no such field, did you mean 'width'?",
        "  layers.1.width: is missing",
        "  layers.2.width: expected an int, got 'x'",
        "  layers.2.activation: expected 'relu' or 'gelu', got 'relu6'",
        "  optimiser.class: expected 'Adam' or 'Sgd', got 'Adma'",
        "  name: expected a str or null, got 3",
        "  colour: expected a name of Colour, got 'BLU', did you mean 'BLUE'?",
        "  sizes.1: expected an int, got 2.5",
        "  limits.low: expected a float, got 'a'",
        "  steps.ten: expected an int for a key, got 'ten'",
    ]


def test_names_may_be_ignored(tmp_path: Path) -> None:
    text = '{"width": 2, "dropout": 0.5, "made_by": "somebody"}'
    found = nn.from_json(Layer, text, ignore=("made_by", "dropout", "version"))
    assert found == Layer(2, dropout=0.5)  # what the class has is read all the same
    (tmp_path / "layer.json").write_text(text)
    assert nn.load_config(Layer, tmp_path / "layer.json", ignore=["made_by"]) == found
    with pytest.raises(bs.ArgumentError, match="made_by: Layer has no such field"):
        nn.from_json(Layer, text, ignore=["made"])
    with pytest.raises(bs.ArgumentError, match=r"children.0.made_by: Tree has no such"):
        nn.from_json(Tree, '{"value": 1, "children": [{"value": 1, "made_by": 2}]}', ["made_by"])


def read(annotation: Any, data: Any) -> Any:
    return nn.from_json(typed(annotation), json.dumps({"value": data}))


WRONG: Any = "wide"
MISTAKES = [
    Mistake(lambda: nn.from_json(Layer, "{"), bs.ArgumentError, "is no JSON, nor a Layer: Expect"),
    Mistake(lambda: nn.from_json(Layer, "[]"), bs.ArgumentError, "an object, a Layer, got []"),
    Mistake(lambda: nn.from_json(Layer, "{}"), bs.ArgumentError, "width: is missing"),
    Mistake(lambda: nn.from_json(Positive, '{"number": 0}'), bs.ArgumentError, "0 is not positive"),
    Mistake(lambda: nn.from_json(Layer, '{"class": "os"}'), bs.ArgumentError, "expected 'Layer'"),
    Mistake(lambda: nn.from_json(complex, "1"), bs.ArgumentError, "values of the type <class 'com"),
    Mistake(lambda: nn.to_json(Layer(WRONG)), bs.ArgumentError, "width: expected an int, got 'wi"),
    Mistake(lambda: nn.to_json(3j), bs.ArgumentError, "this complex cannot be written"),
    Mistake(lambda: nn.to_json(typed(Any, {1, 2})), bs.ArgumentError, "value: expected what JSON"),
    Mistake(lambda: nn.to_json(typed(Path | str, Path("a"))), bs.ArgumentError, "read again as"),
    Mistake(lambda: nn.to_json(typed(float | str, math.inf)), bs.ArgumentError, "again as 'inf'"),
    Mistake(lambda: nn.to_json(typed(Layer | None, Sgd(1.0))), bs.ArgumentError, "a Layer or null"),
    Mistake(lambda: nn.to_json(typed(Colour, 1)), bs.ArgumentError, "expected a Colour, got 1"),
    Mistake(lambda: nn.to_json(typed(dict[float, int], {})), bs.ArgumentError, "keys are texts"),
    Mistake(lambda: nn.to_json(typed(Literal[b"a"], b"a")), bs.ArgumentError, "a choice is"),
    Mistake(lambda: nn.to_json(typed("Nowhere", 1)), bs.ArgumentError, "'Nowhere' is not defined"),
    Mistake(lambda: read(int, True), bs.ArgumentError, "expected an int, got True"),
    Mistake(lambda: read(float, False), bs.ArgumentError, "expected a float, got False"),
    Mistake(lambda: read(tuple[int, str], [1]), bs.ArgumentError, "expected a list of 2, got [1]"),
    Mistake(lambda: read(list[int], 1), bs.ArgumentError, "expected a list, got 1"),
    Mistake(lambda: read(dict[str, int], []), bs.ArgumentError, "expected an object, got []"),
    Mistake(lambda: read(Path, 1), bs.ArgumentError, "expected a path, as a str, got 1"),
    Mistake(lambda: read(Colour, "X"), bs.ArgumentError, "got 'X': RED, BLUE"),
    Mistake(lambda: read(list[int] | None, [1, "x"]), bs.ArgumentError, "value.1: expected an int"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)


def test_classes_of_one_name_cannot_be_told_apart() -> None:
    other = dataclass(type("Layer", (), {"__annotations__": {"width": int}}))
    with pytest.raises(bs.ArgumentError, match="two have one name"):
        nn.to_json(typed(Layer | other, Layer(1)))
