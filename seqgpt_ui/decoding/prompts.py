"""Turns wire segments into prompt token ids, the way the official code's tokenizer cuts them."""

from __future__ import annotations

from collections.abc import Sequence

from seqgpt_ui.decoding.vocabulary import GEN_TOKEN, Vocabulary
from seqgpt_ui.protocol import SegmentMessage


def split_gen(segments: Sequence[SegmentMessage], vocabulary: Vocabulary) -> str:
    """The prompt as one string without the final ``[GEN]``, if that is markup and the vocabulary has it.

    Segments decide which characters may become control tokens, never where words are cut: the rest is encoded whole.
    """
    text = "".join(segment.text for segment in segments)
    if vocabulary.gen_id is not None and _ends_in_gen(segments):
        return text.removesuffix(GEN_TOKEN)
    return text


def encode_prompt(segments: Sequence[SegmentMessage], vocabulary: Vocabulary) -> list[int]:
    """Prompt ids, the true ``[GEN]`` appended by id where the prompt ends in it."""
    ids = vocabulary.encode(split_gen(segments, vocabulary))
    if vocabulary.gen_id is not None and _ends_in_gen(segments):
        ids.append(vocabulary.gen_id)
    return ids


def _ends_in_gen(segments: Sequence[SegmentMessage]) -> bool:
    """Whether the prompt's last characters are ``[GEN]`` as markup."""
    return not segments[-1].is_content and segments[-1].text.endswith(GEN_TOKEN)
