"""What a task is: it plans the prompts of a document and merges their answers. Pure: no I/O, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.prompt.render import Prompt
from seqgpt_ui.protocol import ChoiceConstraint, Completion, CopyConstraint
from seqgpt_ui.tasks.results import ShardTrace
from seqgpt_ui.tasks.windows import Window

ResultT = TypeVar("ResultT", covariant=True)
GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class Document:
    """One text as it came."""

    text: str


@dataclass(frozen=True, slots=True)
class Shard:
    """One prompt: part ``part`` of the labels beside one window of the text, asked in round ``round``."""

    prompt: Prompt
    labels: tuple[str, ...]
    window: Window
    constraint: ChoiceConstraint | CopyConstraint | None
    part: int = 0
    round: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """A shard and its answer."""

    shard: Shard
    completion: Completion


class Task(Protocol[ResultT]):
    """A task is made for one label set and applied to many documents."""

    def plan(self, document: Document) -> list[Shard]:
        """The prompts of the first round. Raises ``LabelsTooLong`` when the labels leave no room for a text."""
        ...

    def merge(self, document: Document, answered: Sequence[Answered]) -> ResultT | list[Shard]:
        """The result of all answers so far (every round), or the prompts of a further round."""
        ...


def trace(answer: Answered, scores: Mapping[str, float | None] | None = None) -> ShardTrace:
    """What a result tells about one of its prompts."""
    shard, completion = answer.shard, answer.completion
    return ShardTrace(
        prompt=str(shard.prompt),
        raw=completion.text,
        labels=shard.labels,
        start=shard.window.start,
        end=shard.window.end,
        num_tokens=completion.num_prompt_tokens,
        finish_reason=completion.finish_reason,
        scores=scores,
    )


def num_windows(answered: Sequence[Answered]) -> int:
    """How many windows the text was read in."""
    return len({(answer.shard.window.start, answer.shard.window.end) for answer in answered})


def truncation(answered: Sequence[Answered]) -> tuple[Notice, ...]:
    """A notice when an answer ran into its length limit."""
    count = sum(answer.completion.finish_reason == "length" for answer in answered)
    if not count:
        return ()
    message = f"{count} of {len(answered)} answers reached the length limit and may be incomplete"
    return (Notice("truncated_output", message, {"count": count, "total": len(answered)}),)


def distinct(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Notices in order, each sentence once."""
    return tuple({(notice.code, notice.message): notice for notice in notices}.values())
