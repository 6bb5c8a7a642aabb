"""Every needed distribution is seen once, and nothing is run in vain."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.backends.branches import plan_branches

CONTINUATIONS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=8)


@given(CONTINUATIONS)
def test_every_token_is_scored_and_every_prefix_is_run(continuations: list[list[int]]) -> None:
    branches = plan_branches(continuations)
    for continuation in continuations:
        for at, token in enumerate(continuation):
            prefix = tuple(continuation[:at])
            assert token in branches.next_tokens[prefix]
            assert any(row[: len(prefix)] == prefix for row in branches.rows)


@given(CONTINUATIONS)
def test_no_row_begins_another(continuations: list[list[int]]) -> None:
    rows = plan_branches(continuations).rows
    assert len(set(rows)) == len(rows)
    assert not any(a != b and b[: len(a)] == a for a in rows for b in rows)


def test_last_tokens_cost_nothing() -> None:
    branches = plan_branches([[1, 2, 9], [1, 2, 8], [1, 3, 9], [4]])
    assert set(branches.rows) == {(1, 2), (1, 3)}
    assert branches.next_tokens[()] == (1, 4)
    assert branches.next_tokens[(1, 2)] == (9, 8)
