"""What a kernel looks like as LLVM text, and what is refused."""

from dataclasses import replace

import pytest

from brimstone.ir.parser import parse
from brimstone.targets.llvm.compile import compile_text
from brimstone.targets.llvm.library import llvm
from brimstone.targets.llvm.machines import AVX2, AVX512, NEON, SSE42, host, model_of
from brimstone.targets.llvm.printer import Refused, print_llvm
from kit.loops import kernel, loops

TOTALS = """
func @totals<n: 0..1024>(%x: buffer<f32, global>, %count: scalar<i64>, %stride: scalar<i64>,
                         %sums: buffer<f32, global>, %own: buffer<f32, global>)
    with {grid: [n], scratch: [4]} {
  %row = loop.program_id {axis = 0} : scalar<i64> at "model.py":3
  %zero = loop.constant {value = 0} : scalar<i64> at "model.py":3
  %four = loop.constant {value = 4} : scalar<i64> at "model.py":3
  %start = loop.binary %row, %count {kind = multiply} : scalar<i64> at "model.py":3
  %tenth = loop.constant {value = 0.1} : scalar<f32> at "model.py":4
  %tenths = loop.splat %tenth {lanes = 4} : vec<4, f32> at "model.py":4
  %total = loop.for %zero, %count, %four, %tenths {unroll = 2}
      (%column: scalar<i64>, %sum: vec<4, f32>) {
    %at = loop.binary %start, %column {kind = add} : scalar<i64> at "model.py":4
    %part = loop.load_vector %x, %at {lanes = 4} : vec<4, f32> at "model.py":4
    %more = loop.binary %sum, %part {kind = add} : vec<4, f32> at "model.py":5
    yield %more at "model.py":5
  } : vec<4, f32> at "model.py":5
  loop.store_vector %own, %zero, %total at "model.py":6
  %0 = loop.reduce %total {kind = add} : scalar<f32> at "model.py":6
  loop.store %sums, %row, %0 at "model.py":6
  return
}
"""

GOLDEN = """\
target triple = "x86_64-unknown-linux-gnu"

define void @totals(ptr noalias readonly %slots, ptr noalias readonly %grid, \
ptr noalias readonly %range) #0 {
entry:
  %x = load ptr, ptr %slots, align 8
  %slot = getelementptr i64, ptr %slots, i64 1
  %count = load i64, ptr %slot, align 8
  %slot.1 = getelementptr i64, ptr %slots, i64 3
  %sums = load ptr, ptr %slot.1, align 8
  %slot.2 = getelementptr i64, ptr %slots, i64 4
  %own = load ptr, ptr %slot.2, align 8
  %first.0 = load i64, ptr %range
  %slot.3 = getelementptr i64, ptr %range, i64 1
  %last.0 = load i64, ptr %slot.3
  br label %programs.0.header
programs.0.header:
  %program.0 = phi i64 [ %first.0, %entry ], [ %next.1, %for.exit ]
  %more = icmp slt i64 %program.0, %last.0
  br i1 %more, label %programs.0.body, label %programs.0.exit
programs.0.body:
  ; model.py:3
  %start = mul i64 %program.0, %count
  ; model.py:5
  %row = getelementptr float, ptr %x, i64 %start
  br label %for.header
for.header:
  %column = phi i64 [ 0, %programs.0.body ], [ %next, %for.body ]
  %sum = phi <4 x float> [ splat (float 0.10000000149011612), %programs.0.body ], \
[ %more.2, %for.body ]
  %more.1 = icmp slt i64 %column, %count
  br i1 %more.1, label %for.body, label %for.exit
for.body:
  ; model.py:4
  %at = getelementptr float, ptr %row, i64 %column
  %part = load <4 x float>, ptr %at, align 4, !noalias !2
  ; model.py:5
  %more.2 = fadd <4 x float> %sum, %part
  %next = add nsw i64 %column, 4
  br label %for.header
for.exit:
  ; model.py:6
  store <4 x float> %sum, ptr %own, align 4, !alias.scope !2
  %upper = shufflevector <4 x float> %sum, <4 x float> poison, \
<4 x i32> <i32 2, i32 3, i32 poison, i32 poison>
  %halved = fadd <4 x float> %sum, %upper
  %upper.1 = shufflevector <4 x float> %halved, <4 x float> poison, \
<4 x i32> <i32 1, i32 poison, i32 poison, i32 poison>
  %halved.1 = fadd <4 x float> %halved, %upper.1
  %add = extractelement <4 x float> %halved.1, i64 0
  %at.1 = getelementptr inbounds float, ptr %sums, i64 %program.0
  store float %add, ptr %at.1, align 4, !noalias !2
  %next.1 = add nsw i64 %program.0, 1
  br label %programs.0.header
programs.0.exit:
  ret void
}

attributes #0 = { nounwind "no-builtins" "target-cpu"="x86-64-v2" }

!0 = distinct !{!0, !"@totals"}
!1 = distinct !{!1, !0, !"scratch 0"}
!2 = !{!1}
"""


def test_a_small_kernel() -> None:
    assert print_llvm([parse(TOTALS).main], SSE42) == GOLDEN


def test_a_module_of_several_funcs() -> None:
    one, other = parse(TOTALS).main, loops(TOTALS.replace("@totals", "@others"))
    text = print_llvm([one, other], AVX512)
    assert text.count("define void") == 2
    assert '"prefer-vector-width"="512"' in text
    assert compile_text(text, AVX512)


SCALED = """
func @scaled(%x: buffer<f32, global>) {
  %zero = loop.constant {value = 0} : scalar<i64>
  %half = loop.constant {value = 0.5} : scalar<f32>
  %halves = loop.splat %half {lanes = 8} : vec<8, f32>
  %others = loop.constant {value = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]} : vec<8, f32>
  %signs = loop.constant {value = [-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0]} : vec<8, f32>
  %each = loop.constant {value = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]} : vec<8, f32>
  %a = loop.load_vector %x, %zero {lanes = 8} : vec<8, f32>
  %b = loop.fma %a, %halves, %others : vec<8, f32>
  %c = loop.fma %b, %each, %signs : vec<8, f32>
  loop.store_vector %x, %zero, %c
  return
}
"""


def test_numbers_of_all_lanes_stand_in_memory_where_that_saves_registers() -> None:
    text = print_llvm([parse(SCALED).main, parse(SCALED.replace("@scaled", "@also")).main], AVX2)
    memory = "@vector.0 = internal externally_initialized global <8 x float> splat (float 0.5)"
    assert f"{memory}, align 32" in text and "@vector.1" not in text
    assert text.count("entry:\n  %constant = load <8 x float>, ptr @vector.0, align 32\n") == 2
    assert text.count("<8 x float> %constant, <8 x float> %constant)") == 2
    assert text.count("<8 x float> splat (float -0.0)") == 2
    assert compile_text(text, AVX2)


def test_llvm_is_left_with_its_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()
    monkeypatch.setattr(llvm(), "set_option", lambda _, option: said.append(option))
    text = print_llvm([parse(SCALED).main], AVX2)
    assert compile_text(text, AVX2)
    ours, theirs = said[: len(said) // 2], said[len(said) // 2 :]
    assert ours == ["-disable-lsr=true", "-grow-region-complexity-budget=0"]
    assert theirs == ["-disable-lsr=false", "-grow-region-complexity-budget=10000"]


def test_elsewhere_they_are_constants() -> None:
    for machine in (AVX512, NEON, replace(AVX2, spreads=False)):
        text = print_llvm([parse(SCALED).main], machine)
        assert "@vector" not in text and text.count("splat (float 0.5)") == 2


def test_names_that_llvm_would_take_for_others() -> None:
    func = kernel(
        "%slots: buffer<f32, global>, %grid: scalar<i64>, %entry: scalar<i64>",
        """
  %1 = loop.load %slots, %grid : scalar<f32>
  %for_header = loop.binary %1, %1 {kind = add} : scalar<f32>
  %z = loop.for %grid, %entry, %grid, %for_header (%end: scalar<i64>, %begin: scalar<f32>) {
    yield %begin
  } : scalar<f32>
  loop.store %slots, %entry, %z""",
    )
    func.body.arguments[0].name = 'größe "1"'
    assert compile_text(print_llvm([func], AVX512), AVX512)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("%n = loop.length %x : scalar<i64>", "loop.length .* a pointer knows no length"),
        ("loop.barrier {space = shared}", "loop.barrier .* many lanes"),
        (
            "%m = loop.allocate {count = 99999, dtype = f32, space = local} : buffer<f32, local>",
            "loop.allocate .* too many for the stack",
        ),
        (
            "%f = loop.fragment_fill %y {rows = 2, columns = 2, use = accumulator}"
            " : fragment<2, 2, f32, accumulator>",
            "loop.fragment_fill .* many lanes",
        ),
    ],
)  # fmt: skip
def test_what_the_cpu_has_not(body: str, why: str) -> None:
    func = kernel("%x: buffer<f32, global>, %y: scalar<f32>", f"  {body}")
    with pytest.raises(Refused, match=rf"kernel\.ir:2: {why}"):
        print_llvm([func], AVX512)


def test_memory_of_a_size_that_the_kernel_does_not_know() -> None:
    func = loops("""
func @kernel<n: 1..9>() {
  %x = loop.allocate {count = n, dtype = f32, space = local} : buffer<f32, local>
  return
}""")
    with pytest.raises(Refused, match="scratch memory may"):
        print_llvm([func], AVX512)


def test_funcs_that_are_no_kernels() -> None:
    with pytest.raises(Refused, match="takes no vec<4, f32>"):
        print_llvm([kernel("%x: vec<4, f32>", "")], AVX512)
    with pytest.raises(Refused, match="it returns values"):
        print_llvm([loops("func @f(%x: scalar<f32>) -> scalar<f32> {\n  return %x\n}")], AVX512)


def test_models_by_their_features(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = frozenset({"avx2", "fma", "f16c", "bmi2"})
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert model_of(frozenset()) is SSE42
    assert model_of(wide) is AVX2
    assert model_of(wide | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}) is AVX512
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert model_of(frozenset()) is NEON


def test_the_processor_here_is_one_of_the_models() -> None:
    assert host().cpu and host().level1 >= 8192 and host().level2 >= host().level1
