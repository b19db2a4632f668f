"""Teach the embedded model from questions and answers.

What is learned is a LoRA adapter: beside each matrix of the model two thin ones, whose product is
added to it. The matrices are read from the file of the embedded model, so that the adapter fits
what llama.cpp runs; only the thin ones are trained, and written in its format.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError, MissingExtra, UnreadableFile
from claimlab.core.guard import seal_folder
from claimlab.core.progress import progress
from claimlab.core.types import JsonObject
from claimlab.llm.weights import SHA256, installed, weights_path

KIND = "adapter"
ADAPTER, ABOUT = "adapter.gguf", "adapter.json"
RECIPE: JsonObject = {
    "rank": 8,
    "alpha": 16,
    "learning_rate": 1e-3,
    "warm_up": 30,
    "weight_decay": 0.01,
    "epochs": 3,
    "batch": 16,
}
CONTROL_KIND = 3  # tokens that are marks of the format, not text
# Matrices of a block: how the file of the model names them, and how PyTorch does.
MATRICES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_OTHERS = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
# Of PyTorch, transformers and gguf, which are not installed everywhere.
Module: TypeAlias = Any
Tensor: TypeAlias = Any
Matrix: TypeAlias = npt.NDArray[Any]
Pairs: TypeAlias = Mapping[str, Sequence[Matrix]]  # two thin matrices, by the one beside them
Example: TypeAlias = tuple[list[int], list[int]]  # tokens, and those that are to be learned


@dataclass(frozen=True)
class Lesson:
    """A question to the model and the answer that it should give. Lessons of one group are held
    out together.
    """

    group: str
    question: str
    answer: str


def device() -> str:
    return "cuda" if _libraries()[0].cuda.is_available() else "cpu"


def _libraries() -> tuple[Module, Module, Module]:
    try:
        import gguf
        import torch
        import transformers
    except ImportError:
        raise MissingExtra("Learning an adapter", "encoder") from None
    return torch, transformers, gguf


@dataclass(frozen=True)
class Base:
    """The embedded model as PyTorch trains it, and its tokenizer."""

    model: Module
    tokenizer: Any
    end: int  # the token behind an answer
    heads: Mapping[str, int]  # of the matrices whose rows llama.cpp has in another order

    @classmethod
    def open(cls) -> Base:
        torch, transformers, gguf = _libraries()
        if not installed():
            raise ClaimlabError(
                "The embedded model is not installed.", "Fetch it (98 MB): claimlab llm install"
            )
        progress("Opening the model", 0, None)
        reader = gguf.GGUFReader(weights_path())
        field = {name.partition(".")[2]: entry.contents() for name, entry in reader.fields.items()}
        heads = {
            "attn_q": field["attention.head_count"],
            "attn_k": field["attention.head_count_kv"],
        }
        config = transformers.LlamaConfig(
            vocab_size=field["vocab_size"],
            hidden_size=field["embedding_length"],
            intermediate_size=field["feed_forward_length"],
            num_hidden_layers=field["block_count"],
            num_attention_heads=heads["attn_q"],
            num_key_value_heads=heads["attn_k"],
            rms_norm_eps=field["attention.layer_norm_rms_epsilon"],
            rope_theta=field["rope.freq_base"],
            tie_word_embeddings=True,
        )
        model = transformers.LlamaForCausalLM(config).requires_grad_(False)
        state = {}
        for tensor in reader.tensors:
            *block, part, kind = tensor.name.split(".")  # blk, 3, attn_q, weight
            rows = gguf.dequantize(tensor.data, tensor.tensor_type)
            rows = in_halves(rows, heads[part]) if part in heads else rows
            place = ".".join(["layers", *block[1:]] if block else [])
            name = f"{place}.{(MATRICES | _OTHERS)[part]}.{kind}".lstrip(".")
            state[name] = torch.tensor(rows, dtype=torch.float32)
        model.model.load_state_dict(state)
        return cls(model.to(device()), _tokenizer(field), field["ggml.eos_token_id"], heads)

    def example(self, lesson: Lesson) -> Example:
        chat = f"<|im_start|>user\n{lesson.question}<|im_end|>\n<|im_start|>assistant\n"
        question = self.tokenizer.encode(chat).ids
        answer = [*self.tokenizer.encode(lesson.answer).ids, self.end]
        return question + answer, [-100] * len(question) + answer

    def adapt(self) -> dict[str, list[Tensor]]:
        """Put two thin matrices beside every matrix of a block; their product is 0 at first."""
        torch, rank = _libraries()[0], RECIPE["rank"]
        pairs = {}
        for number, block in enumerate(self.model.model.layers):
            for name, place in MATRICES.items():
                matrix = block.get_submodule(place)
                high, wide = matrix.weight.shape
                thin = torch.randn(rank, wide) / math.sqrt(wide), torch.zeros(high, rank)
                pair = [half.to(self.model.device).requires_grad_() for half in thin]
                matrix.register_forward_hook(partial(_added, pair))
                pairs[f"blk.{number}.{name}"] = pair
        return pairs

    def loss(self, examples: Sequence[Example]) -> Tensor:
        """The mean over the tokens of the answers. What fills up a row comes last, and so changes
        nothing.
        """
        torch, where = _libraries()[0], self.model.device
        tokens, labels = (
            torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(row) for row in column], batch_first=True, padding_value=-100
            ).to(where)
            for column in zip(*examples, strict=True)
        )
        with torch.autocast(where.type, dtype=torch.bfloat16, enabled=where.type == "cuda"):
            return self.model(input_ids=tokens.clamp(min=0), labels=labels).loss

    def held_loss(self, examples: Sequence[Example]) -> float:
        """The loss per token, without learning from it."""
        with _libraries()[0].inference_mode():
            parts = [
                (float(self.loss(part)), sum(label >= 0 for _, labels in part for label in labels))
                for part in _batches(examples)
            ]
        return sum(loss * tokens for loss, tokens in parts) / sum(tokens for _, tokens in parts)


def _added(pair: list[Tensor], _: Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
    return output + inputs[0] @ pair[0].T @ pair[1].T * (RECIPE["alpha"] / RECIPE["rank"])


def trained(
    base: Base, learning: Sequence[Lesson], held_out: Sequence[Lesson], seed: int
) -> tuple[Pairs, float, float]:
    """The thin matrices after their best epoch, and the loss on what was held out before and
    after.
    """
    torch, draw = _libraries()[0], random.Random(seed)
    examples, apart = ([base.example(lesson) for lesson in part] for part in (learning, held_out))
    epochs = RECIPE["epochs"]
    total = epochs * len(list(_batches(examples)))
    steps = iter(range(1, total + 1))
    progress("Training", 0, total)
    before = base.held_loss(apart)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        pairs = base.adapt()
    matrices = [thin for pair in pairs.values() for thin in pair]
    optimiser = torch.optim.AdamW(
        matrices, lr=RECIPE["learning_rate"], weight_decay=RECIPE["weight_decay"]
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / RECIPE["warm_up"]) * (1 - step / (total + 1))
    )
    best = {}
    lowest = math.inf
    for _ in range(epochs):
        draw.shuffle(examples)
        for part in _batches(examples):
            base.loss(part).backward()
            torch.nn.utils.clip_grad_norm_(matrices, 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            progress("Training", next(steps), total)
        after = base.held_loss(apart)
        if after >= lowest:
            break
        lowest = after
        best = {
            name: [thin.detach().cpu().numpy().copy() for thin in pair]
            for name, pair in pairs.items()
        }
    return best, before, lowest


def _batches(examples: Sequence[Example]) -> Iterator[Sequence[Example]]:
    size = RECIPE["batch"]
    return (examples[at : at + size] for at in range(0, len(examples), size))


def _tokenizer(field: Mapping[str, Any]) -> Any:
    """As the file of the model describes it: byte pairs, every digit by itself."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = field["ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in field["ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({word: at for at, word in enumerate(words)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)]
    )
    kinds = zip(words, field["ggml.token_type"], strict=True)
    tokenizer.add_special_tokens([word for word, kind in kinds if kind == CONTROL_KIND])
    return tokenizer


def in_pairs(rows: Matrix, heads: int) -> Matrix:
    """Rows of a query or key matrix in the order of llama.cpp, which turns neighbouring pairs where
    PyTorch turns the two halves of a head.
    """
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def in_halves(rows: Matrix, heads: int) -> Matrix:
    """The way back."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def write(folder: Path, pairs: Pairs, heads: Mapping[str, int], about: JsonObject) -> None:
    """The adapter in the format of llama.cpp, and beside it what it is."""
    writer = _libraries()[2].GGUFWriter(folder / ADAPTER, "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", RECIPE["alpha"])
    for name, (down, up) in pairs.items():
        part = name.split(".")[-1]
        rows = in_pairs(up, heads[part]) if part in heads else up
        writer.add_tensor(f"{name}.weight.lora_a", down.astype(np.float16))
        writer.add_tensor(f"{name}.weight.lora_b", rows.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    facts = {"base": SHA256, "adapter": digest_file(folder / ADAPTER), "recipe": RECIPE, **about}
    (folder / ABOUT).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    seal_folder(folder, KIND)


def adapter_digest(folder: Path) -> str:
    """The digest of the adapter in a folder, which must be whole and for the embedded model."""
    try:
        about = json.loads((folder / ABOUT).read_bytes())
        digest, base = about["adapter"], about["base"]
        is_whole = digest == digest_file(folder / ADAPTER)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise UnreadableFile(
            f"'{folder}' holds no adapter that is whole.",
            "Learn one from traces, and name its folder.",
        )
    if base != SHA256:
        raise UnreadableFile(
            f"The adapter in '{folder}' was learned for other weights than the embedded model's.",
            "Learn it again from the traces.",
        )
    return str(digest)
