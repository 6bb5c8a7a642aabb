"""What the bridge needs of a core, of whoever loads it, and of whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from seqgpt_ui.backends.base import Control
from seqgpt_ui.protocol import Completion, GenerateItem, ModelInfo, TokenizerResponse
from seqgpt_ui.worker.engine.queue import Outcome

State = Literal["loading", "ready", "failed", "stopping"]


class Core(Protocol):
    """A synchronous engine, used from one thread (``memory_bytes`` and ``tokenizer`` from any)."""

    model: ModelInfo

    def tokenizer(self) -> TokenizerResponse:
        """What clients need to count tokens."""
        ...

    def memory_bytes(self) -> int | None:
        """Device memory in use, None where that is the process's own."""
        ...

    def run(self, item: GenerateItem, control: Control, on_text: Callable[[str], None] | None = None) -> Completion:
        """Answer one item. Raises errors of the product's tree; anything else means that the core is broken."""
        ...


class Loaded(NamedTuple):
    """What a loader brings: the core, and why this checkpoint was chosen."""

    core: Core
    choice_reason: str


class Observer(Protocol):
    """Hears what the engine does, on the engine's thread."""

    def loaded(self) -> None:
        """A checkpoint was loaded."""
        ...

    def item_done(self, outcome: Outcome, *, waited_s: float, elapsed_s: float) -> None:
        """An item left the engine."""
        ...
