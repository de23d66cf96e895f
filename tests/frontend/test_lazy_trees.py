"""Trees of results that nobody has looked into are handed on as they are."""

import brimstone as bs
from brimstone.frontend.bundle import bundle_of


def test_a_tree_that_is_given_to_functions_stays_lazy() -> None:
    more = bs.jit(lambda tree: {name: value + 1 for name, value in tree.items()})
    both = bs.jit(lambda one, two: {name: one[name] * two[name] for name in one})
    tree = more({f"p{number}": bs.full((3,), float(number)) for number in range(6)})
    made = both(tree, more(tree))
    assert bundle_of(tree) is not None
    assert bundle_of(made) is not None
    assert [value.tolist() for value in tree.values()] == [[n + 1] * 3 for n in range(6)]
    expected = [[(n + 1) * (n + 2)] * 3 for n in range(6)]
    assert [value.tolist() for value in made.values()] == expected
    assert bundle_of(tree) is None
