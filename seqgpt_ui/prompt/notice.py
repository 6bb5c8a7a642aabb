"""A remark about a request or its answer that is no error: a stable code, values, and an English sentence.

Whoever shows it in another language builds the sentence from code and values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Notice:
    """``code`` never changes between releases; ``message`` is English and made of ``values``."""

    code: str
    message: str
    values: Mapping[str, str | int | float] = field(default_factory=dict)
