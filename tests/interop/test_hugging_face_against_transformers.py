"""The examples of Hugging Face's layouts beside `transformers`: folders, values, slopes, texts."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone.interop.weights import remap
from kit.hugging_face import example

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")
theirs: Any = pytest.importorskip("transformers", reason="transformers, a peer, is not installed")

ERROR = 1e-5
"""As far as f32 may be off, as a share of the largest value of a tensor."""
TOKENS = np.random.default_rng(3).integers(3, 60, (3, 7))
COUNTS = np.arange(7) < np.array([[7], [4], [6]])
BATCH = {"input_ids": TOKENS, "attention_mask": COUNTS.astype(np.int64)}
NEXT = np.where(COUNTS, TOKENS, -100)
KINDS = (np.arange(7) >= 3).astype(np.int64) * np.ones((3, 1), np.int64)


class Case(NamedTuple):
    """A class of ours, the names of theirs and of its config, and settings."""

    example: str
    ours: str
    theirs: str
    config: str
    settings: dict[str, Any]


def gpt2(**settings: Any) -> Case:
    sizes = {"vocab_size": 60, "n_positions": 32, "n_embd": 24, "n_layer": 2, "n_head": 3}
    ends = {"bos_token_id": 1, "eos_token_id": 2}
    return Case("gpt2", "GPT2", "GPT2LMHeadModel", "GPT2Config", {**sizes, **ends, **settings})


def llama(**settings: Any) -> Case:
    sizes = {"vocab_size": 60, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2}  # fmt: skip
    return Case("llama", "Llama", "LlamaForCausalLM", "LlamaConfig", {**sizes, **settings})


def bert(ours: str, theirs: str, **settings: Any) -> Case:
    sizes = {"vocab_size": 60, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
             "num_attention_heads": 3, "max_position_embeddings": 16}  # fmt: skip
    return Case("bert", ours, theirs, "BertConfig", {**sizes, **settings})


STRETCHED = {
    "rope_type": "llama3", "rope_theta": 100.0, "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
}  # fmt: skip
WRITERS = {
    "gpt2": gpt2(),
    "gpt2, a head of its own": gpt2(tie_word_embeddings=False, n_inner=20),
    "gpt2, relu": gpt2(activation_function="relu", layer_norm_epsilon=1e-3),
    "llama": llama(),
    "llama 3": llama(rope_parameters=STRETCHED, num_key_value_heads=1),
    "llama, linear": llama(
        rope_parameters={"rope_type": "linear", "rope_theta": 1000.0, "factor": 2.0},
        tie_word_embeddings=True, head_dim=8, attention_bias=True, mlp_bias=True, pad_token_id=0,
    ),
}  # fmt: skip
READERS = {
    "bert": bert("MaskedLanguageModel", "BertForMaskedLM"),
    "bert, gelu_new": bert("MaskedLanguageModel", "BertForMaskedLM", hidden_act="gelu_new"),
    "bert, classes": bert("Classifier", "BertForSequenceClassification", num_labels=4),
}
CASES = {**WRITERS, **READERS}


def made(case: Case) -> Any:
    """A model of theirs, in double precision, with parameters that are all somewhere."""
    config = getattr(theirs, case.config)(**case.settings, attn_implementation="eager")
    torch.manual_seed(5)
    model = getattr(theirs, case.theirs)(config).double().eval()
    with torch.no_grad():
        for name, each in model.named_parameters():
            is_scale = each.ndim == 1 and name.endswith("weight")
            each.normal_(float(is_scale), 0.3)
            each.copy_(each.float())  # what a file of floats holds
    return model


def folder_of(model: Any, folder: Path, **options: Any) -> Path:
    """A folder that they write, in single precision."""
    copied = type(model)(model.config)
    copied.load_state_dict(model.state_dict())
    copied.save_pretrained(folder, **options)
    return folder


def loaded(case: Case, folder: Path, **options: Any) -> Any:
    return getattr(example(case.example), case.ours).load(folder, **options)


def near(found: Any, expected: Any, largest: float = 0.0) -> None:
    """Whether f32 is as near to f64 as it can be; what should be 0 is a share of the `largest`."""
    right = expected.numpy(force=True)
    scale = np.abs(right).max()
    scale = scale if scale > 1e-12 * largest else largest
    np.testing.assert_allclose(found, right, rtol=0, atol=ERROR * scale)


def given(case: Case) -> tuple[dict[str, Any], list[Any]]:
    """What is given to their model and to our loss."""
    if case.example != "bert":
        return {**BATCH, "labels": NEXT}, [TOKENS, COUNTS]
    labels = (
        np.array([3, 0, 1]) if case.ours == "Classifier" else np.where(TOKENS % 2, TOKENS, -100)
    )
    asked = {**BATCH, "labels": labels, "token_type_ids": KINDS}
    return asked, [TOKENS, labels, COUNTS, KINDS]


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_agree(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = made(case)
    ours = loaded(case, folder_of(model, tmp_path))
    asked, arguments = given(case)
    expected = model(**{what: torch.asarray(each) for what, each in asked.items()})
    expected.loss.backward()
    scores, loss, tensors = called(case, ours, arguments)
    is_text = text_of(scores)
    near(scores.numpy()[is_text], expected.logits[torch.asarray(is_text)])
    value, slopes = bs.value_and_grad(loss)(ours, *tensors)
    near(value.numpy(), expected.loss)
    turned = {path: ours.layout.turned(path, each) for path, each in slopes.params().items()}
    found = remap(turned, ours.layout.writing)
    right = {path: each.grad for path, each in model.named_parameters()}
    assert found.keys() == right.keys()
    largest = max([float(each.abs().max()) for each in right.values()])
    for path, each in right.items():
        near(found[path].numpy(), each, largest)


def called(case: Case, ours: Any, arguments: list[Any]) -> tuple[Any, Any, list[Any]]:
    """Scores, the loss, and what this is called with besides the model."""
    tensors = [bs.asarray(each) for each in arguments]
    if case.example != "bert":
        return ours(*tensors), example("generation").loss, tensors
    tokens, _, counts, kinds = tensors
    return ours(tokens, counts, kinds), example("bert").loss, tensors


def text_of(scores: Any) -> Any:
    """Where there is text: what is scored behind it may attend to anything."""
    return COUNTS if scores.ndim == 3 else np.ones(len(scores), bool)


@pytest.mark.parametrize("name", WRITERS)
def test_texts_agree_token_for_token(name: str, tmp_path: Path) -> None:
    case = WRITERS[name]
    model = made(case).float()  # in double precision, it makes NaN of rows that are all padding
    ours = loaded(case, folder_of(model, tmp_path))
    counts = COUNTS[:, ::-1].copy()
    for tokens, mask in ((TOKENS, np.ones_like(counts)), (np.where(counts, TOKENS, 0), counts)):
        expected = model.generate(
            torch.asarray(tokens), attention_mask=torch.asarray(mask.astype(np.int64)),
            do_sample=False, max_new_tokens=12, pad_token_id=0,
        )[:, 7:].tolist()  # fmt: skip
        asked = {"counts": None if mask.all() else bs.asarray(mask), "end": ours.config.ends}
        found = example("generation").generate(ours, bs.asarray(tokens), 12, **asked)
        assert [text + [0] * (12 - len(text)) for text in found] == expected


@pytest.mark.parametrize("name", CASES)
def test_they_read_what_is_saved_here(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    ours = loaded(case, folder_of(made(case), tmp_path / "theirs"))
    ours.save(tmp_path / "ours")
    model = getattr(theirs, case.theirs).from_pretrained(tmp_path / "ours")
    asked, arguments = given(case)
    del asked["labels"]
    expected = model(**{what: torch.asarray(each) for what, each in asked.items()}).logits
    scores = called(case, ours, arguments)[0]
    is_text = text_of(scores)
    near(scores.numpy()[is_text], expected[torch.asarray(is_text)])


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert"])
def test_weights_in_several_files_and_in_those_of_pytorch(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = made(case)
    folder = folder_of(model, tmp_path / "one")
    several = folder_of(model, tmp_path / "several", max_shard_size="10KB")
    assert len([*several.glob("*.safetensors")]) > 1
    old = tmp_path / "old"
    old.mkdir()
    (old / "config.json").write_bytes((folder / "config.json").read_bytes())
    torch.save(model.float().state_dict(), old / "pytorch_model.bin")
    expected = loaded(case, folder).state_dict()
    for each in (several, old):
        found = loaded(case, each).state_dict()
        assert found.keys() == expected.keys()
        assert all([(found[path] == expected[path]).all() for path in found])


def test_a_body_without_a_head(tmp_path: Path) -> None:
    """The first files of GPT-2 have no prefix, and no head: it is the table of the tokens."""
    case = CASES["gpt2"]
    model = made(case)
    folder_of(model, tmp_path / "whole")
    model.float().transformer.save_pretrained(tmp_path / "body")
    whole, body = loaded(case, tmp_path / "whole"), loaded(case, tmp_path / "body")
    assert (whole(bs.asarray(TOKENS)) == body(bs.asarray(TOKENS))).all()


def test_what_a_classifier_finds_in_a_language_model(tmp_path: Path) -> None:
    folder_of(made(CASES["bert"]), tmp_path)
    case = CASES["bert, classes"]
    with pytest.raises(bs.interop.MismatchError, match=r"missing \(4\): 'pooler.weight', 'pooler."):
        loaded(case, tmp_path)
    with pytest.warns(UserWarning) as told:
        loaded(case, tmp_path, partial=True)
    said = sorted([str(each.message) for each in told])
    assert said == [
        "Classifier: left over (5): score_bias, transform_norm.bias, transform_norm.weight, "
        "transform.bias, transform.weight",
        "Classifier: missing (4): pooler.weight, pooler.bias, classifier.weight, classifier.bias",
    ]


def words(folder: Path) -> None:
    """A tokenizer that knows 60 words."""
    library: Any = pytest.importorskip("tokenizers", reason="tokenizers, a peer, is not installed")
    known = {"[UNK]": 0, "[MASK]": 1, **{f"w{number}": number for number in range(2, 60)}}
    made = library.Tokenizer(library.models.WordLevel(known, unk_token="[UNK]"))
    made.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
    made.save(str(folder / "tokenizer.json"))


def test_texts_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, asked in (("llama", ["w5 w6", "--count", "3"]), ("bert", ["w5 [MASK] w7"])):
        folder = folder_of(made(CASES[name]), tmp_path / name)
        words(folder)
        capsys.readouterr()
        found = example(name).main([str(folder), *asked])
        told = capsys.readouterr().out.strip()
        if name == "llama":
            assert told == " ".join(["w5", "w6", *[f"w{token}" for token in found]])
        else:
            assert (told, told.split()[::2]) == (found, ["w5", "w7"])
