"""Trees given to compiled functions again and again: whatever happens to them is seen."""

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.arguments import Roles
from brimstone.frontend.quick import Quick
from brimstone.runtime.device import current_device


@dataclass
class Layer:
    weight: Any
    bias: Any
    name: str = field(default="layer", metadata={"static": True})


@dataclass(frozen=True)
class Frozen:
    weight: Any
    bias: Any
    scale: Any
    shift: Any


@dataclass(slots=True)
class Slotted:
    weight: Any
    bias: Any


class Pair(NamedTuple):
    weight: Any
    bias: Any


class Box:
    def __init__(self, inside: Any) -> None:
        self.inside = inside


bs.register_tree(Box, lambda box: ((box.inside,), None), lambda _, children: Box(children[0]))
Empty = make_dataclass("Empty", (), slots=True)


def full(value: float) -> bs.Tensor:
    return bs.asarray(np.full(2, value, np.float32))


def flat() -> dict[str, Any]:
    return {f"p{at}": full(at) for at in range(6)}


def pair() -> dict[str, Any]:
    return {"weight": full(1), "bias": full(2)}


TREES: dict[str, Callable[[], Any]] = {
    "flat": flat,
    "empty": dict,
    "none": lambda: {"a": None, "b": full(1)},
    "dicts": lambda: {"a": pair(), "b": pair(), "c": {}},
    "dicts of different keys": lambda: [pair(), {"weight": full(3)}, {"bias": full(4)}],
    "ordered dicts": lambda: [OrderedDict(pair()), OrderedDict(pair())],
    "list": lambda: [full(1), full(2)],
    "tuple": lambda: (full(1), [full(2), (full(3),)]),
    "named tuple": lambda: Pair(full(1), {"x": full(2)}),
    "dataclass": lambda: [Layer(full(1), full(2), "a"), Layer(full(3), full(4), "b")],
    "dataclass of containers": lambda: {"a": Layer({"x": full(1)}, [full(2), (None,)], "c")},
    "slots": lambda: [Slotted(full(1), full(2)), Empty()],
    "registered": lambda: {"box": Box({"a": full(1)}), "c": full(2)},
    "mixed": lambda: {
        "a": full(1),
        "b": {"c": pair(), "d": [full(2), pair(), Pair(full(3), full(4))]},
    },
}


def more(tree: Any) -> Any:
    return bs.tree_map(lambda leaf: leaf + 1, tree)


def values(tree: Any) -> tuple[list[Any], Any]:
    leaves, structure = bs.tree_flatten(tree)
    return [np.asarray(leaf).tolist() for leaf in leaves], structure


def agrees(compiled: Any, tree: Any) -> None:
    """The compiled function gives what one that was never called before gives."""
    expected = values(bs.jit(more)(tree))
    assert values(compiled(tree)) == expected
    assert values(compiled(tree)) == expected


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_the_same_tree_and_equal_ones(make: Callable[[], Any]) -> None:
    compiled = bs.jit(more)
    tree = make()
    for each in (tree, tree, make(), make(), compiled(tree), compiled(compiled(tree))):
        agrees(compiled, each)
    assert len(compiled.plans) == 1


@pytest.mark.parametrize("make", [flat, TREES["dicts"], TREES["dataclass"], TREES["tuple"]])
def test_known_trees_go_the_quick_way(make: Callable[[], Any]) -> None:
    quick, download = Quick(Roles(more, (), (), {})), current_device().target.download
    tree = make()
    bs.sync(tree)
    quick.kind((tree,), {}, learning=True)
    found = []
    for _ in range(2):
        tree = make()
        bs.sync(tree)
        kind, _, (buffers,) = quick.kind((tree,), {})
        assert kind is not None
        assert [download(each).tolist() for each in buffers] == values(tree)[0]
        found.append(kind)
    assert found[0] == found[1]


def move(tree: Any) -> None:
    tree["b"] = {"bias": tree["a"].pop("bias"), **tree["b"]}


def swap(tree: Any) -> None:
    tree["a"], tree["b"] = tree["b"], tree["a"]


def set_inside(tree: Any) -> None:
    tree["a"]["weight"][0] = 7


CHANGES: dict[str, Callable[[Any], Any]] = {
    "value": lambda tree: tree["a"].update(weight=full(9)),
    "number": lambda tree: tree["a"].update(weight=2.0),
    "array": lambda tree: tree["a"].update(weight=np.ones(2, np.float32)),
    "shape": lambda tree: tree["a"].update(weight=bs.ones((3, 1))),
    "dtype": lambda tree: tree["a"].update(weight=bs.ones(2, dtype=bs.float64)),
    "added key": lambda tree: tree["a"].update(more=full(5)),
    "deleted key": lambda tree: tree["a"].pop("weight"),
    "order of leaves": lambda tree: tree["a"].update(weight=tree["a"].pop("weight")),
    "order of dicts": swap,
    "leaf to another dict": move,
    "dict for a leaf": lambda tree: tree["a"].update(weight=pair()),
    "leaf for a dict": lambda tree: tree.update(a=full(3)),
    "list for a dict": lambda tree: tree.update(a=[full(1), full(2)]),
    "derived dict": lambda tree: tree["b"].update(OrderedDict(pair())),
    "none": lambda tree: tree["b"].update(weight=None),
    "part of a tensor": set_inside,
    "key of another kind": lambda tree: tree.update({5: full(5)}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("returned", [False, True])
def test_a_change_is_seen(change: Callable[[Any], Any], returned: bool) -> None:
    compiled = bs.jit(more)
    tree = {"a": pair(), "b": pair()}
    agrees(compiled, tree)
    if returned:
        tree = compiled(tree)
    change(tree)
    agrees(compiled, tree)
    agrees(compiled, {"a": pair(), "b": pair()})


def test_an_order_that_a_class_keeps_is_seen() -> None:
    compiled = bs.jit(more)
    tree = [OrderedDict(pair()), OrderedDict(pair())]
    agrees(compiled, tree)
    tree[0].move_to_end("weight")
    agrees(compiled, tree)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: [{"a": x, "b": x}, {"c": x}], lambda x: [{"a": x}, {"b": x, "c": x}]),
        (lambda x: [[x, x], [x]], lambda x: [[x], [x, x]]),
        (lambda x: ((x, x), (x,)), lambda x: ((x,), (x, x))),
        (lambda x: [x, [x]], lambda x: [[x], x]),
        (lambda x: [x, x], lambda x: (x, x)),
        (lambda x: [x, x], lambda x: Pair(x, x)),
        (lambda x: [None, {"a": x}], lambda x: [{"a": x}, None]),
    ],
)
def test_where_a_container_ends_is_seen(one: Any, other: Any) -> None:
    compiled = bs.jit(more)
    for make in (one, other, one, other):
        agrees(compiled, make(full(1)))


def test_a_changed_field_is_seen() -> None:
    compiled = bs.jit(more)
    tree = [Layer(full(1), full(2)), Layer(full(3), full(4))]
    agrees(compiled, tree)
    tree[1].bias = full(8)
    agrees(compiled, tree)
    tree[1].name = "another"
    agrees(compiled, tree)


def test_a_field_of_a_returned_dataclass_may_be_set_before_it_is_read() -> None:
    @dataclass
    class Wide:
        a: Any
        b: Any
        c: Any
        d: Any

    compiled = bs.jit(more)
    made = compiled(Wide(*[full(at) for at in range(4)]))
    made.a = full(8)
    assert compiled(made).a.tolist() == [9, 9]
    made = compiled(made)
    del made.b
    assert not hasattr(made, "b")
    frozen = compiled(Frozen(*[full(at) for at in range(4)]))
    with pytest.raises(AttributeError, match="cannot assign"):
        frozen.weight = full(1)  # pyright: ignore[reportAttributeAccessIssue]
    assert frozen.weight.tolist() == [1, 1]


@pytest.mark.parametrize("make", [flat, lambda: Frozen(*[full(1) for _ in range(4)])])
def test_a_leaf_of_a_returned_tree_may_change(make: Callable[[], Any]) -> None:
    compiled = bs.jit(more)
    made = compiled(compiled(make()))
    leaf = bs.tree_leaves(made)[1]
    leaf[0] = 50
    assert bs.tree_leaves(compiled(made))[1].tolist()[0] == 51
    leaf.requires_grad_()
    grown = bs.tree_leaves(compiled(made))[1]
    assert grown.requires_grad
    assert leaf in grown.sum().backward()


def test_a_tracked_leaf_is_seen() -> None:
    compiled = bs.jit(more)
    tree = flat()
    agrees(compiled, tree)
    tree["p1"].requires_grad_()
    for _ in range(2):
        assert compiled(tree)["p1"].requires_grad
    tree["p1"].requires_grad_(False)
    assert not compiled(tree)["p1"].requires_grad


def test_leaves_that_are_still_to_be_computed() -> None:
    compiled = bs.jit(more)
    agrees(compiled, flat())
    tree = {key: value * 2 for key, value in flat().items()}
    assert tree["p1"].pending
    assert compiled(tree)["p1"].tolist() == [3, 3]
    assert not tree["p1"].pending
    agrees(compiled, tree)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_donated_leaf_is_seen(times: int) -> None:
    compiled = bs.jit(more)
    give = bs.jit(more, donate=0)
    tree = compiled(compiled(flat()))
    by_hand = dict(tree)
    for _ in range(times):
        compiled(by_hand)
    assert give(by_hand)["p1"].tolist() == [4, 4]
    for dead in (by_hand, tree, {**tree}):
        with pytest.raises(bs.DeadTensorError, match=r"donated at .*test_jit_trees.py"):
            compiled(dead)


def test_a_look_into_a_donated_tree_hinders_nobody() -> None:
    give = bs.jit(more, donate=0)
    tree = give(flat())
    give(tree)
    held = tree["p1"]
    assert (full(1) + 1).tolist() == [2, 2]
    with pytest.raises(bs.DeadTensorError):
        held.numpy()


def test_donated_trees_made_by_hand() -> None:
    give = bs.jit(more, donate=0)
    for _ in range(3):
        tree = {"a": pair(), "b": pair()}
        bs.sync(tree)
        assert give(tree)["b"]["bias"].tolist() == [3, 3]
        with pytest.raises(bs.DeadTensorError):
            give(tree)


@pytest.mark.parametrize("keep", [False, True])
def test_nothing_is_kept_of_a_tree(keep: bool) -> None:
    compiled = bs.jit(more)
    tree = flat()
    for _ in range(3):
        compiled(tree)
    buffers = [ref(tree["p1"].node.buffer), ref(tree["p2"].node.buffer)]
    rest = tree.pop("p5") if keep else None
    del tree
    gc.collect()
    assert [each() for each in buffers] == [None, None]
    assert rest is None or rest.tolist() == [5, 5]


def test_keys_that_are_tensors() -> None:
    compiled = bs.jit(lambda state: [value + 1 for value in state.values()])
    one, other = full(1), full(2)
    for keys in ((one, other), (one, other), (other, one), ("a", "b"), (one, "b")):
        state = {keys[0]: full(1), keys[1]: full(2)}
        assert [each.tolist() for each in compiled(state)] == [[2, 2], [3, 3]]
        assert [each.tolist() for each in compiled(state)] == [[2, 2], [3, 3]]


def test_what_looks_like_a_tensor_is_none() -> None:
    @dataclass
    class Inner:
        node: Any

    compiled = bs.jit(more)
    agrees(compiled, [full(1), full(2)])
    agrees(compiled, [Inner(full(1)), Inner(full(2))])
    agrees(compiled, [full(1), Inner(full(2))])


def test_who_has_the_node_of_a_tensor_is_none() -> None:
    class Holder:
        node = full(1).sync().node

    compiled = bs.jit(lambda pair: pair[0] + (1 if isinstance(pair[1], bs.Tensor) else 100))
    for _ in range(2):
        assert compiled([full(1).sync(), full(2).sync()]).tolist() == [2, 2]
        assert compiled([full(1).sync(), Holder()]).tolist() == [101, 101]


def test_an_unhashable_static_field_is_refused() -> None:
    compiled = bs.jit(more)
    tree = Layer(full(1), full(2))
    agrees(compiled, tree)
    tree.name = ["no", "name"]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(bs.ArgumentError, match="not hashable"):
        compiled(tree)


def test_trees_of_many_structures_in_turn() -> None:
    compiled = bs.jit(more)
    for _ in range(3):
        for make in TREES.values():
            agrees(compiled, make())


def test_trees_beside_other_arguments() -> None:
    compiled = bs.jit(lambda tree, x, rate, name: {name: tree["p1"] + x * rate}, static="name")
    plain = bs.jit(lambda tree, x, rate=2.0: tree["p1"] + x * rate)
    tree = flat()
    for rate in (1.0, 2.0):
        assert compiled(tree, full(1), rate, "a")["a"].tolist() == [1 + rate] * 2
        assert plain(tree, np.ones(2, np.float32), rate).tolist() == [1 + rate] * 2
        assert plain(tree, full(1), rate=rate).tolist() == [1 + rate] * 2
        assert plain(tree, full(1)).tolist() == [3, 3]


def test_static_arguments_are_told_apart_by_their_places() -> None:
    compiled = bs.jit(lambda a, b: bs.asarray(a if isinstance(b, str) else b) + 1)
    assert compiled(full(1), "x").tolist() == [2, 2]
    assert compiled("x", full(1)).tolist() == [2, 2]
    assert len(compiled.plans) == 2


def test_threads_share_a_function_and_a_returned_tree() -> None:
    compiled = bs.jit(more)
    returned = compiled(flat())
    trees = [flat() for _ in range(4)]
    bs.sync(trees)
    found: list[Any] = []
    start = threading.Barrier(len(trees))

    def work(tree: Any) -> None:
        start.wait()
        kept = list(returned.values())
        for _ in range(20):
            found.append(values(compiled(tree))[0] == [[at + 1.0] * 2 for at in range(6)])
        found.append(all(map(lambda one, other: one is other, kept, returned.values())))

    threads = [threading.Thread(target=work, args=(tree,)) for tree in trees]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 84
    assert all(found)
