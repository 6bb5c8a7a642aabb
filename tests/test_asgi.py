"""Request ids and body limits, as both servers use them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message

from seqgpt_ui.asgi import limited, new_request_id


@pytest.mark.parametrize("offered", ["abc", "a.b_c-d:1", "x" * 64])
def test_harmless_ids_are_kept(offered: str) -> None:
    assert new_request_id(offered) == offered


@pytest.mark.parametrize("offered", [None, "", "x" * 65, "a b", "a\nb", "{}", "é"])
def test_others_are_replaced(offered: str | None) -> None:
    fresh = new_request_id(offered)
    assert fresh != offered
    assert len(fresh) == 32
    assert new_request_id(offered) != fresh


async def read(bodies: Sequence[bytes], max_body_bytes: int) -> list[bytes]:
    """What arrives through the limit."""
    waiting = iter(bodies)

    async def receive() -> Message:
        return {"type": "http.request", "body": next(waiting), "more_body": True}

    bounded = limited(receive, max_body_bytes, "too large")
    return [(await bounded())["body"] for _ in bodies]


def test_a_body_up_to_the_limit_passes() -> None:
    assert asyncio.run(read([b"ab", b"", b"cd"], 4)) == [b"ab", b"", b"cd"]


def test_a_body_over_the_limit_is_refused_as_soon_as_it_is() -> None:
    with pytest.raises(HTTPException, match="too large") as refused:
        asyncio.run(read([b"ab", b"cd", b"e"], 4))
    assert refused.value.status_code == 413


def test_messages_without_a_body_pass() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def read_one() -> Message:
        return await limited(receive, 0, "too large")()

    assert asyncio.run(read_one()) == {"type": "http.disconnect"}
