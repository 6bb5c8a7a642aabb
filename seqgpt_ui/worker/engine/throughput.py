"""What the engine did in the last minute; feeds Retry-After and the status page. Not thread-safe by itself."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

WINDOW_S = 60.0
MAX_RETRY_AFTER_S = 60


class _Finished(NamedTuple):
    at_s: float
    num_tokens: int
    elapsed_s: float


class Throughput:
    """A sliding window over finished items."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._recent: deque[_Finished] = deque(maxlen=10_000)
        self.num_finished = 0

    def add(self, num_tokens: int, elapsed_s: float) -> None:
        """Count one finished item that kept the engine busy for ``elapsed_s``."""
        self._recent.append(_Finished(self._clock(), num_tokens, elapsed_s))
        self.num_finished += 1

    @property
    def tokens_per_s(self) -> float:
        """Tokens (prompt and answer) per busy second; 0 without recent work."""
        recent = self._window()
        busy_s = sum(item.elapsed_s for item in recent)
        return sum(item.num_tokens for item in recent) / busy_s if busy_s > 0 else 0.0

    def retry_after_s(self, num_items: int) -> int:
        """Whole seconds (at least 1) in which about ``num_items`` will be done, judged by the last minute."""
        recent = self._window()
        if not recent:
            return 1
        mean_s = sum(item.elapsed_s for item in recent) / len(recent)
        return min(max(math.ceil(mean_s * num_items), 1), MAX_RETRY_AFTER_S)

    def _window(self) -> deque[_Finished]:
        while self._recent and self._recent[0].at_s < self._clock() - WINDOW_S:
            self._recent.popleft()
        return self._recent
