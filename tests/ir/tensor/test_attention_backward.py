"""The gradients of attention as an op: by hand in a small case, and what it refuses."""

import numpy as np
import pytest

from brimstone.ir.errors import VerifyError
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.verifier import verify

TEXT = """
func @f(%q: tensor<[1, 2, 1, 1], f64>, %k: tensor<[1, 1, 2, 1], f64>,
    %v: tensor<[1, 1, 2, 1], f64>, %l: ROWS, %r: ROWS,
    %c: tensor<[1, 2, 1, 1], f64>, %d: ROWS)
    -> (tensor<[1, 2, 1, 1], f64>, tensor<[1, 1, 2, 1], f64>, tensor<[1, 1, 2, 1], f64>, SCORES) {
  %a, %b, %e, %s = tensor.attention_backward %q, %k, %v, %l, %r, %c, %d {scale = 2.0}
      (%x: SCORES) {
    yield %x
  } (%x: SCORES, %g: SCORES) {
    yield %g, %x
  } : tensor<[1, 2, 1, 1], f64>, tensor<[1, 1, 2, 1], f64>, tensor<[1, 1, 2, 1], f64>, SCORES
  return %a, %b, %e, %s
}
"""


def text(rows: str = "tensor<[1, 2, 1], f64>") -> str:
    return TEXT.replace("ROWS", rows).replace("SCORES", "tensor<[1, 2, 1, 2], f64>")


def test_two_heads_that_share_two_keys() -> None:
    """By its log-sum-exp, the second head has no weights; its scores are there all the same.

    What the log-sum-exp lacks is in the rest.
    """
    func = parse(text()).main
    verify(func)
    query, key, value = np.array([1.0, 3.0]), np.array([0.5, -0.5]), np.array([2.0, 4.0])
    scores = 2 * query[0] * key
    sums = np.log(np.exp(scores).sum())
    weights = np.exp(scores - sums)
    delta = weights @ value
    change = weights * (value - delta)
    given = [
        query.reshape(1, 2, 1, 1), key.reshape(1, 1, 2, 1), value.reshape(1, 1, 2, 1),
        np.array([[[sums - 0.25], [np.inf]]]), np.array([[[0.25], [0.0]]]), np.ones((1, 2, 1, 1)),
        np.array([[[delta], [0.0]]]),
    ]  # fmt: skip
    by_query, by_key, by_value, others = interpret(func, *given)
    np.testing.assert_allclose(by_query.ravel(), [2 * change @ key, 0], rtol=1e-12)
    np.testing.assert_allclose(by_key.ravel(), 2 * change * query[0], rtol=1e-12)
    np.testing.assert_allclose(by_value.ravel(), weights, rtol=1e-12)
    np.testing.assert_allclose(others.ravel(), [*scores, *(2 * 3.0 * key)], rtol=1e-12)


MISTAKES = {
    text("tensor<[1, 2], f64>"): "log_sum_exp is tensor<[1, 2], f64>, expected",
    text().replace("%c: tensor<[1, 2, 1, 1]", "%c: tensor<[1, 2, 2, 1]"): "the cotangent is no",
    text().replace("yield %g, %x", "yield %c, %x"): "the region pull yields",
}


@pytest.mark.parametrize("broken", MISTAKES)
def test_refusals(broken: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(parse(broken).main)
    assert MISTAKES[broken] in str(caught.value)
