"""The contract of a guide. Whoever decodes (logits processor, scheduler) knows only this."""

from __future__ import annotations

from typing import Any, Protocol

# A guide's state: immutable and hashable, made and read by its own guide only.
State = Any


class Guide(Protocol):
    """An automaton over token ids. States are immutable values; a beam copies one by keeping a reference."""

    @property
    def start(self) -> State:
        """The state before the first token of the answer."""
        ...

    def allowed(self, state: State) -> tuple[int, ...]:
        """Legal next tokens in ascending order, the end token included where the answer may end; never empty
        before the end token was taken."""
        ...

    def advance(self, state: State, token: int) -> State:
        """The state after ``token``. Raises ``ValueError`` for a token that is not allowed."""
        ...

    def forced(self, state: State) -> tuple[int, ...]:
        """The run of tokens that must follow (may be empty); appending it equals asking the model."""
        ...

    def draft(self, state: State) -> tuple[int, ...]:
        """A guess at the next tokens, to be verified in one pass; may be empty."""
        ...

    def final(self, state: State) -> bool:
        """Whether the answer may end here."""
        ...
