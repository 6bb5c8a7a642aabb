"""Counts tokens with the model's own tokenizer, in the process that builds the prompts. Knows no weights."""

from __future__ import annotations

from tokenizers import Tokenizer

from seqgpt_ui.errors import WorkerError
from seqgpt_ui.prompt.profile import GEN_TOKEN
from seqgpt_ui.protocol import TokenizerResponse


class TokenCounter:
    """Token counts and token places of ordinary characters: control tokens in a text are never matched."""

    def __init__(self, tokenizer: Tokenizer, has_gen: bool) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._has_gen = has_gen

    @classmethod
    def from_response(cls, response: TokenizerResponse) -> TokenCounter:
        """Build from what the worker serves. Raises ``WorkerError`` if that is no tokenizer."""
        try:
            tokenizer = Tokenizer.from_str(response.tokenizer_json)
        except Exception as error:  # the library raises bare Exception
            raise WorkerError(f"the worker's tokenizer cannot be read: {error}") from error
        return cls(tokenizer, response.format.has_gen and response.gen_id is not None)

    def count(self, text: str) -> int:
        """The number of tokens of ``text``."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def count_prompt(self, prompt: str) -> int:
        """The number of tokens of a rendered prompt; its final ``[GEN]`` is one where the vocabulary has it."""
        head = prompt.removesuffix(GEN_TOKEN) if self._has_gen else prompt
        return self.count(head) + (len(head) < len(prompt))

    def starts(self, text: str) -> list[int]:
        """For every token the code point at which it begins, ascending; tokens of one character share a place."""
        return [start for start, _ in self._tokenizer.encode(text, add_special_tokens=False).offsets]
