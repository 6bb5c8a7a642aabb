"""The stream of synthetic rows: picks language and domain and numbers the rows."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from random import Random

from training.generator.classify import classify_content
from training.generator.domains import Domain, borrow_names, load_domains
from training.generator.extract import extract_content
from training.generator.pools import Pools
from training.rows import Row

LANGUAGE_SHARES = {"zh": 0.65, "en": 0.35}
# Part of a language's rows whose labels are named in the other language, as when an English text meets a Chinese form.
BORROWED_SHARES = {"zh": 0.04, "en": 0.12}
MAX_TRIES = 6


def generate(num_rows: int, *, seed: int, lexicons: Path | None = None) -> Iterator[Row]:
    """Yield synthetic rows, the same for the same seed and lexicon folder; a text seldom repeats."""
    rng = Random(f"{seed}/rows")
    domains, weights = _load_weighted(seed, lexicons)
    # Digests, not texts: a run may make millions of rows.
    seen: set[bytes] = set()
    cumulative = list(accumulate(weights))
    for number in range(num_rows):
        domain = rng.choices(domains, cum_weights=cumulative)[0]
        for _ in range(MAX_TRIES):
            row = _make_row(f"gen-{seed}-{number}", domain, rng)
            digest = blake2b(row.text.encode(), digest_size=8).digest()
            if digest not in seen:
                break
        seen.add(digest)
        yield row


def _load_weighted(seed: int, lexicons: Path | None) -> tuple[list[Domain], list[float]]:
    loaded = {
        language: {
            domain.name: domain for domain in load_domains(language, Pools(language, seed=seed, lexicons=lexicons))
        }
        for language in LANGUAGE_SHARES
    }
    domains: list[Domain] = []
    weights: list[float] = []
    for language, other in (("zh", "en"), ("en", "zh")):
        own = loaded[language]
        shared = [borrow_names(own[name], loaded[other][name]) for name in own if name in loaded[other]]
        share, borrowed = LANGUAGE_SHARES[language], BORROWED_SHARES[language]
        for group, part in ((list(own.values()), share * (1 - borrowed)), (shared, share * borrowed)):
            total = sum(domain.weight for domain in group)
            domains.extend(group)
            weights.extend(part * domain.weight / total for domain in group)
    return domains, weights


def _make_row(row_id: str, domain: Domain, rng: Random) -> Row:
    gold: tuple[str, ...] | dict[str, tuple[str, ...]]
    if domain.task == "classify":
        text, labels, gold = classify_content(domain, rng)
    else:
        text, labels, gold = extract_content(domain, rng)
    return Row(row_id, domain.task, text, labels, gold, source="generator", licence="CC0-1.0")
