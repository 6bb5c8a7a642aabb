"""Free answers as they grow, end and fail."""

from __future__ import annotations

from seqgpt_ui.api.serialize import free_json
from seqgpt_ui.errors import DeadlineExceeded
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.ui.presenters.free_prompt import failed_free, present_free, present_partial
from tests.fakes_web import free_answer


def test_growing() -> None:
    view = present_partial("你")
    assert (view.answer, view.raw, view.details) == ("你", "你", "")


def test_whole() -> None:
    view = present_free(free_answer(), {"name": "m"}, "zh")
    assert view.answer == "你好！"
    assert view.raw == "你好！\n"
    assert view.prompt == "你好\n输出: [GEN]"
    assert view.details == "提示词 5 个 token · 生成 4 个 · 正常结束"
    assert view.json == {"result": free_json(free_answer()), "model": {"name": "m"}}


def test_cut_answer_says_so() -> None:
    answer = free_answer(finish_reason="length", warnings=(Notice("truncated_output", "m", {"limit": 4}),))
    view = present_free(answer, None, "en")
    assert view.details.endswith("stopped at the length limit")
    assert "may be incomplete" in view.notes


def test_error_keeps_what_was_written() -> None:
    view = failed_free(DeadlineExceeded("too late"), "你", "en")
    assert view.answer == "你"
    assert "too long" in view.notes
