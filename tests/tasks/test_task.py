"""Traces and notices that all tasks share."""

from __future__ import annotations

from seqgpt_ui.prompt.render import Prompt, Segment
from seqgpt_ui.protocol import Completion
from seqgpt_ui.tasks.results import Notice, ShardTrace
from seqgpt_ui.tasks.task import Answered, Shard, distinct, num_windows, trace, truncation
from seqgpt_ui.tasks.windows import Window
from tests.fakes import completion


def answered(start: int, end: int, answer: Completion) -> Answered:
    prompt = Prompt((Segment("输入: ", False), Segment("好", True)), "official.v1")
    return Answered(Shard(prompt, ("甲",), Window(start, end, 3), None), answer)


def test_a_trace_tells_prompt_answer_and_place() -> None:
    answer = answered(2, 5, completion("甲\n", num_prompt_tokens=7))
    assert trace(answer, {"甲": 1.0}) == ShardTrace("输入: 好", "甲\n", ("甲",), 2, 5, 7, "stop", {"甲": 1.0})
    assert trace(answer).scores is None


def test_windows_are_counted_once_for_all_parts() -> None:
    answers = [answered(0, 5, completion()), answered(0, 5, completion()), answered(4, 9, completion())]
    assert num_windows(answers) == 2


def test_cut_answers_are_counted() -> None:
    cut = completion(finish_reason="length")
    (notice,) = truncation([answered(0, 1, cut), answered(1, 2, completion())])
    assert (notice.code, notice.values) == ("truncated_output", {"count": 1, "total": 2})
    assert truncation([answered(0, 1, completion())]) == ()


def test_notices_are_told_once_and_in_order() -> None:
    one, other = Notice("a", "x", {"n": 1}), Notice("b", "x")
    assert distinct([one, other, one, Notice("a", "y")]) == (one, other, Notice("a", "y"))
