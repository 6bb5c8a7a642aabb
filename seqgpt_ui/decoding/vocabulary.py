"""A checkpoint's tokens as bytes: plain encoding, decoding, and byte-prefix look-ups for guides.

Added tokens are taken out of the tokenizer on the way in, so that ``[GEN]`` or ``</s>`` typed by a user are ordinary
characters; the true control tokens are known by id only.
"""

from __future__ import annotations

import codecs
import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer

GEN_TOKEN = "[GEN]"  # noqa: S105 - a vocabulary entry, not a secret


def byte_of_character() -> dict[str, int]:
    """The byte-level alphabet: printable Latin-1 stands for itself, other bytes for U+0100 onwards (GPT-2's table)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in set(printable))
    table.update({chr(0x100 + index): byte for index, byte in enumerate(others)})
    return table


def plain_tokenizer_json(tokenizer_json: str) -> str:
    """The same tokenizer without added tokens: it encodes every text as ordinary characters."""
    content = json.loads(tokenizer_json)
    content["added_tokens"] = []
    content["post_processor"] = None
    content["truncation"] = content["padding"] = None
    return json.dumps(content, ensure_ascii=False)


class Vocabulary:
    """Encodes, decodes, and finds the tokens that begin with given bytes."""

    def __init__(self, tokenizer_json: str, *, eos_id: int, pad_id: int, gen_id: int | None) -> None:
        self.plain_json = plain_tokenizer_json(tokenizer_json)
        self._tokenizer = Tokenizer.from_str(self.plain_json)
        self.eos_id = eos_id
        self.pad_id = pad_id
        self.gen_id = gen_id
        control = {token["id"] for token in json.loads(tokenizer_json).get("added_tokens", [])}
        self._bytes = self._token_bytes(control)
        pairs = sorted((value, token) for token, value in self._bytes.items())
        self._keys = [value for value, _ in pairs]
        self._ids = [token for _, token in pairs]

    @classmethod
    def from_json(cls, tokenizer_json: str) -> Vocabulary:
        """Take the special ids from the tokenizer itself; BLOOM's names them ``</s>``, ``<pad>`` and ``[GEN]``."""
        tokenizer = Tokenizer.from_str(tokenizer_json)
        eos, pad, gen = (tokenizer.token_to_id(token) for token in ("</s>", "<pad>", GEN_TOKEN))
        if eos is None:
            raise ValueError("the tokenizer has no </s>; it is not a BLOOM tokenizer")
        return cls(tokenizer_json, eos_id=eos, pad_id=eos if pad is None else pad, gen_id=gen)

    def _token_bytes(self, control: set[int]) -> dict[int, bytes]:
        table = byte_of_character()
        return {
            token: bytes(table[character] for character in text)
            for text, token in self._tokenizer.get_vocab(with_added_tokens=False).items()
            if token not in control and all(character in table for character in text)
        }

    def encode(self, text: str) -> list[int]:
        """Token ids of a text whose every character is ordinary."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def bytes_of(self, token: int) -> bytes:
        """The bytes a token stands for; empty for control tokens."""
        return self._bytes.get(token, b"")

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of some tokens; control tokens vanish, broken UTF-8 becomes U+FFFD."""
        return b"".join(map(self.bytes_of, tokens)).decode("utf-8", errors="replace")

    def prefix_range(self, prefix: bytes, low: int = 0, high: int | None = None) -> tuple[int, int]:
        """The range of sorted tokens that begin with ``prefix``, searched between ``low`` and ``high``."""
        high = len(self._keys) if high is None else high
        first = bisect_left(self._keys, prefix, low, high)
        return first, bisect_left(self._keys, _after(prefix), first, high) if _after(prefix) else high

    def tokens_at(self, position: int, prefix: bytes) -> list[int]:
        """The tokens that equal ``prefix``, which must be the first of its range at ``position``."""
        found = []
        while position < len(self._keys) and self._keys[position] == prefix:
            found.append(self._ids[position])
            position += 1
        return found


def _after(prefix: bytes) -> bytes:
    """The smallest byte string that sorts behind everything that begins with ``prefix``; empty if there is none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else b""


class TextStream:
    """Turns tokens into text as they come; never cuts a character in half."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token: int) -> str:
        """The text that became complete with this token."""
        return self._decoder.decode(self._vocabulary.bytes_of(token))

    def finish(self) -> str:
        """What is left, broken bytes as U+FFFD."""
        return self._decoder.decode(b"", final=True)


def common_prefix_length(sequences: Sequence[Sequence[int]]) -> int:
    """How many leading items all sequences share; 0 for no sequences."""
    if not sequences:
        return 0
    ordered = sorted(map(tuple, sequences))
    shortest, longest = ordered[0], ordered[-1]
    length = 0
    while length < min(len(shortest), len(longest)) and shortest[length] == longest[length]:
        length += 1
    return length
