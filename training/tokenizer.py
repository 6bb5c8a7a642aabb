"""Trains a byte-level BPE tokenizer with the structure of BLOOM's and ``[GEN]`` as its last id.

Structure (facts sheet of SeqGPT-560M): no normaliser, Split on one regex, ByteLevel without prefix space, ids 0-3 =
``<unk> <s> </s> <pad>``, nothing added around a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from seqgpt_ui.prompt.profile import GEN_TOKEN

BLOOM_SPLIT = r" ?[^(\s|[.,!?…。，、।۔،])]+"
CONTROL_TOKENS = ("<unk>", "<s>", "</s>", "<pad>")
# Longer merges would freeze whole phrases into one token, and spans must be able to begin and end between words.
MAX_TOKEN_BYTES = 8


def create_tokenizer() -> Tokenizer:
    """An untrained tokenizer of BLOOM's structure."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(BLOOM_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def train_tokenizer(texts: Iterable[str], vocab_size: int, *, with_gen: bool = True) -> Tokenizer:
    """Train on ``texts``; the result has at most ``vocab_size`` ids, ``[GEN]`` (if wanted) being the last one."""
    tokenizer = create_tokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - (1 if with_gen else 0),
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=MAX_TOKEN_BYTES,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if with_gen:
        tokenizer.add_special_tokens([AddedToken(GEN_TOKEN, normalized=False, special=True)])
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, *, with_gen: bool = True) -> None:
    """Write the files that transformers loads: tokenizer.json, its config and the special tokens."""
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",  # noqa: S106 - vocabulary entries, not secrets
        bos_token="<s>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        pad_token="<pad>",  # noqa: S106
        padding_side="left",
        clean_up_tokenization_spaces=False,
        **({"additional_special_tokens": [GEN_TOKEN]} if with_gen else {}),
    )
    fast.save_pretrained(str(folder))
