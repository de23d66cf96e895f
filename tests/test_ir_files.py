"""The plugin for `.ir` files: what it runs, what it says of a failure, what it rewrites."""

from pathlib import Path

import pytest

GOOD = """\
// CASE: dead_code
// RUN: dead
func @f<n: 0..9>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  %y = tensor.exp %x : tensor<[n], f32>
  return %x
}
// ----
func @f<n: 0..9>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  return %x
}

// ====
// RUN: cse, dead
// INPUT: %i 0..3
func @g(%x: tensor<[4], f32>, %i: tensor<[2, 1], i32>) -> tensor<[2], f32> {
  %y = tensor.gather %x, %i {axes = [0], batch = 0, outside = error} : tensor<[2], f32>
  %z = tensor.gather %x, %i {axes = [0], batch = 0, outside = error} : tensor<[2], f32>
  %s = tensor.add %y, %z : tensor<[2], f32>
  return %s
}
// ----
func @g(%x: tensor<[4], f32>, %i: tensor<[2, 1], i32>) -> tensor<[2], f32> {
  %y = tensor.gather %x, %i {axes = [0], batch = 0, outside = error} : tensor<[2], f32>
  %s = tensor.add %y, %y : tensor<[2], f32>
  return %s
}
"""
PRINTS = """\
// CASE: as_it_is
// NORUN: a buffer has no numpy meaning
func @f(%b: buffer<f32, global>) {
  return
}

// CASE: refused
// ERROR: left has type tensor<[2], bool>
func @f(%x: tensor<[2], bool>) {
  %y = tensor.add %x, %x : tensor<[2], bool>
  return
}
"""


def run(pytester: pytest.Pytester, text: str, *options: str) -> pytest.RunResult:
    """The result of a session that has one file of cases."""
    pytester.makefile(".ir", cases=text)
    return pytester.runpytest_inprocess("-p", "kit.ir_files", *options)


def test_cases_pass_and_are_named(pytester: pytest.Pytester) -> None:
    result = run(pytester, GOOD + PRINTS, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        ["cases.ir::dead_code PASSED*", "cases.ir::case_2 PASSED*", "cases.ir::refused PASSED*"]
    )


def test_one_case_is_run_by_its_name(pytester: pytest.Pytester) -> None:
    pytester.makefile(".ir", cases=GOOD)
    result = pytester.runpytest_inprocess("-p", "kit.ir_files", "cases.ir::case_2")
    result.assert_outcomes(passed=1)


def test_what_was_not_run_is_listed_with_its_reason(pytester: pytest.Pytester) -> None:
    result = run(pytester, PRINTS)
    result.stdout.fnmatch_lines(
        [
            "*cases that the interpreter did not run*",
            "cases.ir:1: as_it_is: a buffer has no numpy meaning",
        ]
    )


def test_another_text_is_shown_as_a_difference(pytester: pytest.Pytester) -> None:
    result = run(pytester, GOOD.replace("tensor.add %y, %y", "tensor.add %y, %z"))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "cases.ir:12: case_2 through cse, dead",
            "the printed text (+) is not the expected one (-)*",
            "-   %s = tensor.add %y, %z : tensor<[[]2[]], f32>",
            "+   %s = tensor.add %y, %y : tensor<[[]2[]], f32>",
        ]
    )


def test_golden_texts_are_rewritten_in_place(pytester: pytest.Pytester) -> None:
    missing, _, _ = GOOD.rpartition("// ----")
    wrong = missing.replace("  return %x\n}\n\n//", "  return %wrong\n}\n\n//")
    assert wrong != missing
    result = run(pytester, wrong, "--update-golden")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["cases.ir: wrote dead_code, case_2"])
    assert (pytester.path / "cases.ir").read_text() == GOOD
    assert [path.name for path in pytester.path.glob("*.new")] == []
    pytester.runpytest_inprocess("-p", "kit.ir_files").assert_outcomes(passed=2)


def test_an_error_that_does_not_come_fails(pytester: pytest.Pytester) -> None:
    result = run(pytester, PRINTS.replace("has type tensor", "has kind tensor"))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["cases.ir:7: refused", "expected the error: left has kind*", "found: cases.ir:10:*"]
    )


def test_a_case_that_does_not_run_says_what_helps(pytester: pytest.Pytester) -> None:
    result = run(pytester, GOOD.replace("// INPUT: %i 0..3", "// INPUT: %i 4..9"))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["@g at no sizes does not run: *", "`// INPUT: %name low..high`*"])


def test_a_pass_that_changes_results_is_caught(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is as expected, and still the case fails: exp is not tanh."""
    from brimstone.ir import tensor
    from brimstone.ir.func import Func
    from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
    from brimstone.ir.values import AnyValue
    from brimstone.passes.context import Context
    from brimstone.passes.declare import pipeline_pass
    from brimstone.passes.pipelines import PASSES

    @rewrite(tensor.Exp)
    def wrong(op: tensor.Exp, rewriter: Rewriter) -> AnyValue:
        """exp x -> tanh x"""
        return rewriter.emit(tensor.Tanh, op.x)

    @pipeline_pass("wrong")
    def wrong_pass(func: Func, context: Context) -> None:
        """What no pass may do."""
        apply(Rules(wrong), func, context)

    monkeypatch.setitem(PASSES, "wrong", wrong_pass)  # pyright: ignore[reportArgumentType]
    body = "func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {{\n  %y = tensor.{} %x : {}\n"
    before, after = (
        body.format(op, "tensor<[2], f32>") + "  return %y\n}\n" for op in ("exp", "tanh")
    )
    result = run(pytester, f"// RUN: wrong\n{before}// ----\n{after}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["cases.ir:1: cases through wrong", "@f at no sizes: result 0*"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("// RUM: cse\nfunc @f() {\n  return\n}", "cases.ir:1: no directive is written 'RUM: cse'"),
        ("// INPUT: i 3\nfunc @f() {\n  return\n}", "cases.ir:1: no directive is written 'INPUT*"),
        ("// CASE: a\nfunc\n// CASE: a\nfunc", "cases.ir:3: a stands at line 1 too"),
    ],
)
def test_files_that_cannot_be_read(pytester: pytest.Pytester, text: str, said: str) -> None:
    result = run(pytester, text)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{said}"])


def test_lines_in_errors_are_those_of_the_file(pytester: pytest.Pytester) -> None:
    file = Path(pytester.makefile(".ir", cases=GOOD.replace("%y, %z :", "%y, %q :")))
    result = pytester.runpytest_inprocess("-p", "kit.ir_files", str(file))
    result.stdout.fnmatch_lines(["cases.ir:18:23: %q is not defined here*"])
