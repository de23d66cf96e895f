"""The examples of Hugging Face's layouts: names, what folders say, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import interop
from kit.language_models import GPT2, MODELS, TOKENS, bert, gpt2, llama, made

NORM, MATRIX = [8], [8, 8]
NAMES = {
    "gpt2": {
        "transformer.wte.weight": [20, 8],
        "transformer.wpe.weight": [24, 8],
        "transformer.h.0.ln_1.weight": NORM,
        "transformer.h.0.ln_1.bias": NORM,
        "transformer.h.0.attn.c_attn.weight": [8, 24],
        "transformer.h.0.attn.c_attn.bias": [24],
        "transformer.h.0.attn.c_proj.weight": MATRIX,
        "transformer.h.0.attn.c_proj.bias": NORM,
        "transformer.h.0.ln_2.weight": NORM,
        "transformer.h.0.ln_2.bias": NORM,
        "transformer.h.0.mlp.c_fc.weight": [8, 32],
        "transformer.h.0.mlp.c_fc.bias": [32],
        "transformer.h.0.mlp.c_proj.weight": [32, 8],
        "transformer.h.0.mlp.c_proj.bias": NORM,
        "transformer.ln_f.weight": NORM,
        "transformer.ln_f.bias": NORM,
    },
    "llama": {
        "lm_head.weight": [20, 8],
        "model.embed_tokens.weight": [20, 8],
        "model.layers.0.input_layernorm.weight": NORM,
        "model.layers.0.self_attn.q_proj.weight": MATRIX,
        "model.layers.0.self_attn.k_proj.weight": [4, 8],
        "model.layers.0.self_attn.v_proj.weight": [4, 8],
        "model.layers.0.self_attn.o_proj.weight": MATRIX,
        "model.layers.0.post_attention_layernorm.weight": NORM,
        "model.layers.0.mlp.gate_proj.weight": [12, 8],
        "model.layers.0.mlp.up_proj.weight": [12, 8],
        "model.layers.0.mlp.down_proj.weight": [8, 12],
        "model.norm.weight": NORM,
    },
    "bert": {
        "bert.embeddings.word_embeddings.weight": [20, 8],
        "bert.embeddings.position_embeddings.weight": [16, 8],
        "bert.embeddings.token_type_embeddings.weight": [2, 8],
        "bert.embeddings.LayerNorm.weight": NORM,
        "bert.embeddings.LayerNorm.bias": NORM,
        "bert.encoder.layer.0.attention.self.query.weight": MATRIX,
        "bert.encoder.layer.0.attention.self.query.bias": NORM,
        "bert.encoder.layer.0.attention.self.key.weight": MATRIX,
        "bert.encoder.layer.0.attention.self.key.bias": NORM,
        "bert.encoder.layer.0.attention.self.value.weight": MATRIX,
        "bert.encoder.layer.0.attention.self.value.bias": NORM,
        "bert.encoder.layer.0.attention.output.dense.weight": MATRIX,
        "bert.encoder.layer.0.attention.output.dense.bias": NORM,
        "bert.encoder.layer.0.attention.output.LayerNorm.weight": NORM,
        "bert.encoder.layer.0.attention.output.LayerNorm.bias": NORM,
        "bert.encoder.layer.0.intermediate.dense.weight": [12, 8],
        "bert.encoder.layer.0.intermediate.dense.bias": [12],
        "bert.encoder.layer.0.output.dense.weight": [8, 12],
        "bert.encoder.layer.0.output.dense.bias": NORM,
        "bert.encoder.layer.0.output.LayerNorm.weight": NORM,
        "bert.encoder.layer.0.output.LayerNorm.bias": NORM,
        "cls.predictions.transform.dense.weight": MATRIX,
        "cls.predictions.transform.dense.bias": NORM,
        "cls.predictions.transform.LayerNorm.weight": NORM,
        "cls.predictions.transform.LayerNorm.bias": NORM,
        "cls.predictions.bias": [20],
    },
}
BODY = {name: shape for name, shape in NAMES["bert"].items() if not name.startswith("cls.")}
NAMES["bert, classes"] = {
    **BODY, "bert.pooler.dense.weight": MATRIX, "bert.pooler.dense.bias": NORM,
    "classifier.weight": [3, 8], "classifier.bias": [3],
}  # fmt: skip
NAMES["gpt2, a head of its own"] = {**NAMES["gpt2"], "lm_head.weight": [20, 8]}
NAMES["llama, tied"] = {
    **{name: shape for name, shape in NAMES["llama"].items() if name != "lm_head.weight"},
    **{f"model.layers.0.self_attn.{each}_proj.bias": [4] for each in "kv"},
    **{f"model.layers.0.self_attn.{each}_proj.bias": NORM for each in "qo"},
}


def stored(folder: Path) -> dict[str, Any]:
    """The tensors of a folder."""
    return interop.load(folder)


def rewritten(folder: Path, tensors: Any = None, **settings: Any) -> Path:
    """A folder with other tensors, or more settings."""
    place = folder / "config.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **settings}))
    if tensors is not None:
        interop.safetensors.save(folder / "model.safetensors", tensors)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_names_and_shapes_in_files(name: str, tmp_path: Path) -> None:
    made(name).save(tmp_path)
    found = {path: list(each.shape) for path, each in stored(tmp_path).items()}
    assert found == NAMES[name]


@pytest.mark.parametrize("name", MODELS)
def test_what_is_saved_is_loaded(name: str, tmp_path: Path) -> None:
    model = made(name)
    model.save(tmp_path)
    again = type(model).load(tmp_path)
    assert again.config == model.config
    own, other = model.state_dict(), again.state_dict()
    assert own.keys() == other.keys()
    assert all([own[path].tolist() == other[path].tolist() for path in own])
    narrow = type(model).load(tmp_path, dtype="bfloat16")
    assert {each.dtype.name for each in narrow.state_dict().values()} == {"bfloat16"}
    assert narrow(bs.asarray(TOKENS)).dtype == bs.bfloat16


REFUSED = {
    "another model": ("gpt2", {"model_type": "bert"}, "model_type: expected 'gpt2', got 'bert'"),
    "an unknown curve": ("gpt2", {"activation_function": "xielu"}, "'tanh', got 'xielu'"),
    "no scale": ("gpt2", {"scale_attn_weights": False}, "scale_attn_weights: expected True"),
    "two attentions": ("gpt2", {"add_cross_attention": True}, "attention: expected False"),
    "an unknown setting": ("gpt2", {"n_experts": 8}, "n_experts: Config has no such field"),
    "relative positions": (
        "bert", {"position_embedding_type": "relative_key"}, "expected 'absolute', got 'relative_"),
    "a decoder": ("bert", {"is_decoder": True}, "is_decoder: expected False, got True"),
    "another stretch": (
        "llama", {"rope_parameters": {"rope_type": "yarn"}}, "rope_parameters.rope_type: expected"),
    "quantised": ("llama", {"quantization_config": {}}, "quantization_config: Config has no such"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_settings_that_are_refused(what: str, tmp_path: Path) -> None:
    name, settings, reason = REFUSED[what]
    model = made(name)
    model.save(tmp_path)
    with pytest.raises(bs.ArgumentError) as found:
        type(model).load(rewritten(tmp_path, **settings))
    assert reason in str(found.value)


FOUND = {
    "gpt2": {
        "architectures": ["GPT2LMHeadModel"], "bos_token_id": 50256, "n_ctx": 24, "_num_labels": 1,
        "initializer_range": 0.02, "summary_activation": None, "summary_first_dropout": 0.1,
        "summary_proj_to_labels": True, "summary_type": "cls_index", "summary_use_proj": True,
        "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    },
    "llama": {
        "architectures": ["LlamaForCausalLM"], "bos_token_id": 128000, "pretraining_tp": 1,
        "eos_token_id": [128001, 128008, 128009], "max_position_embeddings": 131072,
        "torch_dtype": "bfloat16", "transformers_version": "4.42.3", "use_cache": True,
    },
    "bert": {
        "architectures": ["BertForMaskedLM"], "directionality": "bidi", "pooler_fc_size": 768,
        "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3, "pooler_size_per_head": 128,
        "pooler_type": "first_token_transform", "gradient_checkpointing": False,
        "position_embedding_type": "absolute", "label2id": {"bad": 0, "so": 1, "good": 2},
    },
}  # fmt: skip
"""Settings that are found in the folders of models that many use."""


@pytest.mark.parametrize("name", FOUND)
def test_settings_that_change_nothing(name: str, tmp_path: Path) -> None:
    model, tokens = made(name), bs.asarray(TOKENS)
    model.save(tmp_path)
    again = type(model).load(rewritten(tmp_path, **FOUND[name]))
    assert (again(tokens) == model(tokens)).all()


def test_older_files_say_how_positions_turn_elsewhere(tmp_path: Path) -> None:
    model = made("llama")
    model.save(tmp_path)
    place = tmp_path / "config.json"
    settings = json.loads(place.read_text())
    rope = settings.pop("rope_parameters")
    settings["rope_theta"] = rope.pop("rope_theta")
    rope["type"] = rope.pop("rope_type")
    place.write_text(json.dumps({**settings, "rope_scaling": rope}))
    tokens = bs.asarray(TOKENS)
    assert (llama.load(tmp_path)(tokens) == model(tokens)).all()


def test_older_names_and_tensors_that_others_imply(tmp_path: Path) -> None:
    model = made("bert")
    model.save(tmp_path)
    tensors = {}
    for name, each in stored(tmp_path).items():
        old = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        tensors[old.replace("LayerNorm.bias", "LayerNorm.beta")] = each
    tensors["bert.embeddings.position_ids"] = bs.arange(16)[None]
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]
    again = bert.load(rewritten(tmp_path, tensors))
    assert (again(bs.asarray(TOKENS)) == model(bs.asarray(TOKENS))).all()


def test_files_without_prefix_and_with_masks(tmp_path: Path) -> None:
    model = made("gpt2")
    model.save(tmp_path)
    body = {name.removeprefix("transformer."): each for name, each in stored(tmp_path).items()}
    body |= {"h.0.attn.bias": bs.ones((1, 1, 24, 24)), "lm_head.weight": body["wte.weight"]}
    again = gpt2.load(rewritten(tmp_path, body))
    assert (again(bs.asarray(TOKENS)) == model(bs.asarray(TOKENS))).all()


def test_what_is_missing_or_left_over_is_told(tmp_path: Path) -> None:
    model = made("gpt2")
    model.save(tmp_path)
    tensors = stored(tmp_path)
    tensors["transformer.h.1.ln_1.weight"] = tensors.pop("transformer.ln_f.bias")
    rewritten(tmp_path, tensors)
    with pytest.raises(interop.MismatchError) as found:
        gpt2.load(tmp_path)
    assert "missing (1): 'ln_f.bias'" in str(found.value)
    assert "unexpected (1): 'blocks.1.ln_1.weight'" in str(found.value)
    with pytest.warns(UserWarning, match="GPT2: ") as told:
        again = gpt2.load(tmp_path, partial=True)
    assert [str(each.message) for each in told] == [
        "GPT2: missing (1): ln_f.bias", "GPT2: left over (1): blocks.1.ln_1.weight",
    ]  # fmt: skip
    assert not again.ln_f.bias.any() and (again.wte.weight == model.wte.weight).all()


def test_matrices_that_do_not_lie_as_they_should_are_told(tmp_path: Path) -> None:
    made("gpt2").save(tmp_path)
    tensors = stored(tmp_path)
    name = "transformer.h.0.mlp.c_fc.weight"
    tensors[name] = tensors[name].T
    with pytest.raises(interop.MismatchError, match="which is its transpose"):
        gpt2.load(rewritten(tmp_path, tensors))


def test_folders_of_links_are_followed_if_asked(tmp_path: Path) -> None:
    made("gpt2").save(tmp_path / "blobs")
    (tmp_path / "snapshot").mkdir()
    for file in (tmp_path / "blobs").iterdir():
        (tmp_path / "snapshot" / file.name).symlink_to(file)
    with pytest.raises(interop.FileError, match="is a link"):
        gpt2.load(tmp_path / "snapshot")
    assert gpt2.load(tmp_path / "snapshot", follow_links=True).config == GPT2
