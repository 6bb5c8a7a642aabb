"""Reads one answer of a classification prompt: scored choices, emitted choices, or free text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqgpt_ui.errors import WorkerError
from seqgpt_ui.prompt.parse import parse_classification
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import shown_label
from seqgpt_ui.protocol import ChoiceScore
from seqgpt_ui.tasks import scores as arithmetic
from seqgpt_ui.tasks.options import ClassifyOptions
from seqgpt_ui.tasks.results import Notice
from seqgpt_ui.tasks.task import Answered


@dataclass(frozen=True, slots=True)
class Reading:
    """What one prompt says: the labels that it names, in the order of the answer, and their scores where known.

    Single label: ``scores`` has every label of the prompt. Multi-label: the emitted ones.
    """

    answer: Answered
    found: tuple[str, ...]
    scores: dict[str, float | None]
    mass: float | None = None
    notices: tuple[Notice, ...] = ()


class ChoiceReader:
    """Reads the answers of one request."""

    def __init__(self, options: ClassifyOptions, profile: FormatProfile) -> None:
        self._options = options
        self._profile = profile

    def read(self, answer: Answered) -> Reading:
        """Read one answer. Raises ``WorkerError`` when a constrained one names something that was not asked."""
        choices = answer.completion.choices
        if answer.shard.constraint is None:
            return self._parsed(answer)
        if choices is None:
            raise WorkerError("the worker answered a choice without scores")
        logprobs = _by_label(choices, answer.shard.labels)
        if self._options.multi_label:
            return Reading(answer, tuple(logprobs), arithmetic.probabilities(logprobs))
        scores = arithmetic.softmax({label: logprobs.get(label) for label in answer.shard.labels})
        if all(score is None for score in scores.values()):
            return self._parsed(answer)
        return Reading(answer, tuple(arithmetic.ranked(scores)), scores, arithmetic.mass(logprobs))

    def _parsed(self, answer: Answered) -> Reading:
        """Free text: labels without scores, remarks on what is not one of the labels."""
        parsed = parse_classification(answer.completion.text, answer.shard.labels, self._profile)
        notices = []
        if any(issue.code == "empty_output" for issue in parsed.issues):
            notices.append(Notice("empty_output", "the model answered nothing"))
        unknown = [issue.text for issue in parsed.issues if issue.code == "unknown_label"]
        if unknown:
            shown = ", ".join(unknown)
            notices.append(Notice("unknown_labels", f"the answer holds what is no label: {shown}", {"labels": shown}))
        if len(parsed.labels) > 1 and not self._options.multi_label:
            shown = ", ".join(parsed.labels)
            message = f"the answer names several labels, the first one counts: {shown}"
            notices.append(Notice("multiple_labels", message, {"labels": shown}))
        return Reading(answer, parsed.labels, dict.fromkeys(parsed.labels), notices=tuple(notices))


def _by_label(choices: Sequence[ChoiceScore], labels: Sequence[str]) -> dict[str, float | None]:
    """Log-probabilities by the user's spelling, in the order of the answer."""
    known = {shown_label(label): label for label in labels}
    try:
        return {known[choice.choice]: choice.logprob for choice in choices}
    except KeyError as error:
        raise WorkerError(f"the worker answered a choice that was not asked: {error}") from error
