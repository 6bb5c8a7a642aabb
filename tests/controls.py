"""Controls for backends and engines under test."""

from __future__ import annotations

from typing import Literal

Reason = Literal["cancelled", "deadline"]


class Running:
    """Never stops."""

    def stopped(self) -> Reason | None:
        return None


class StopAfter:
    """Stops for ``reason`` at the ``count``-th question."""

    def __init__(self, count: int, reason: Reason = "cancelled") -> None:
        self.asked = 0
        self._count = count
        self._reason: Reason = reason

    def stopped(self) -> Reason | None:
        self.asked += 1
        return self._reason if self.asked > self._count else None
