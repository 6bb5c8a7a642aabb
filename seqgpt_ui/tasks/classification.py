"""Classification as a task. Pure: plans prompts, merges answers, knows neither worker nor pages.

One text in several windows: single label takes the mean of the windows' probabilities, weighted by their tokens;
multi-label the highest score of a label in any window; in mode official windows vote with their tokens.
A label set that does not fit beside the text is parted; the best of every part meet in a further round, whose scores
count; labels that were left behind have no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from seqgpt_ui.prompt.constraint import choice_constraint
from seqgpt_ui.prompt.lint import hostile_markup
from seqgpt_ui.protocol import ChoiceConstraint
from seqgpt_ui.tasks import scores as arithmetic
from seqgpt_ui.tasks.choices import ChoiceReader, Reading
from seqgpt_ui.tasks.labels import LabelSet
from seqgpt_ui.tasks.options import ClassifyOptions
from seqgpt_ui.tasks.planner import MAX_PART, Planner
from seqgpt_ui.tasks.results import Classification, Notice
from seqgpt_ui.tasks.task import GAP, Answered, Document, Shard, distinct, num_windows, trace, truncation


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What all windows together say about one part of the labels."""

    candidates: tuple[str, ...]
    scores: dict[str, float | None]
    mass: float | None

    def winners(self, multi: bool) -> tuple[str, ...]:
        """Who goes into the final: the best label, or every emitted one."""
        return self.candidates if multi else self.candidates[:1]


class ClassificationTask:
    """Labels texts with one label set. Made per request; see ``tasks.task.Task``."""

    def __init__(self, labels: LabelSet, options: ClassifyOptions, planner: Planner) -> None:
        self._labels = labels.labels
        self._options = options
        self._planner = planner
        self._reader = ChoiceReader(options, planner.profile)
        self._notices = (*labels.notices, *hostile_markup("\n".join(labels.labels), "labels"))

    def plan(self, document: Document) -> list[Shard]:
        """The prompts of the first round. Raises ``LabelsTooLong`` when labels leave no room for the text."""
        return self._round(document, self._labels, 0)

    def merge(self, document: Document, answered: Sequence[Answered]) -> Classification | list[Shard]:
        """The result, or the final between the winners of the parts.

        Raises ``WorkerError`` when a constrained answer names no known choice, ``LabelsTooLong`` when not even two
        winners fit into a prompt.
        """
        readings = [self._reader.read(answer) for answer in answered]
        last = max(answer.shard.round for answer in answered)
        current = [reading for reading in readings if reading.answer.shard.round == last]
        parts = [list(group) for _, group in groupby(current, key=lambda reading: reading.answer.shard.part)]
        outcomes = [self._outcome(part) for part in parts]
        if len(outcomes) > 1:
            finalists = [label for outcome in outcomes for label in outcome.winners(self._options.multi_label)]
            if 1 < len(finalists) < sum(len(part[0].answer.shard.labels) for part in parts):
                return self._round(document, finalists, last + 1)
        return self._result(document, readings, current, _joined(outcomes))

    def _round(self, document: Document, labels: Sequence[str], number: int) -> list[Shard]:
        single = not self._options.multi_label
        layout = self._planner.layout(
            document.text, labels, part_size=MAX_PART, min_part=2 if single and len(labels) > 1 else 1, overlap=False
        )
        return [
            Shard(
                prompt=self._planner.render(document.text[window.start : window.end], part),
                labels=part,
                window=window,
                constraint=self._constraint(part),
                part=index,
                round=number,
            )
            for index, part in enumerate(layout.parts)
            for window in layout.windows
        ]

    def _constraint(self, part: Sequence[str]) -> ChoiceConstraint | None:
        if self._options.mode == "official":
            return None
        multi = self._options.multi_label
        return choice_constraint(
            part,
            self._planner.profile,
            multi=multi,
            min_choices=max(1, self._options.min_labels) if multi else 1,
            max_choices=self._options.max_labels if multi else None,
        )

    def _outcome(self, readings: Sequence[Reading]) -> _Outcome:
        weights = [float(max(1, reading.answer.shard.window.num_tokens)) for reading in readings]
        scores = [reading.scores for reading in readings]
        if all(value is None for item in scores for value in item.values()):
            return _Outcome(_vote(readings, weights, self._options.multi_label), {}, None)
        if self._options.multi_label:
            best = arithmetic.highest(scores)
            return _Outcome(tuple(arithmetic.ranked(best)), best, None)
        average = arithmetic.weighted_mean(scores, weights)
        mass = arithmetic.mean([reading.mass for reading in readings], weights)
        return _Outcome(tuple(arithmetic.ranked(average)[:1]), average, mass)

    def _result(
        self, document: Document, readings: Sequence[Reading], current: Sequence[Reading], outcome: _Outcome
    ) -> Classification:
        answered = [reading.answer for reading in readings]
        selected, remarks = self._options.select(outcome.candidates, outcome.scores)
        notices = [*self._notices, *hostile_markup(document.text), *_split_notice(answered)]
        notices += [notice for reading in readings for notice in reading.notices]
        return Classification(
            labels=selected,
            scores=self._options.shown_scores(self._labels, outcome.scores),
            prompt=GAP.join(str(answer.shard.prompt) for answer in answered),
            raw=GAP.join(answer.completion.text for answer in answered),
            windows=num_windows([reading.answer for reading in current]),
            num_tokens=sum(answer.completion.num_prompt_tokens for answer in answered),
            warnings=distinct([*notices, *truncation(answered), *remarks]),
            shards=tuple(trace(reading.answer, reading.scores) for reading in readings),
            template=self._planner.template_id,
            mode=self._options.mode,
            mass=outcome.mass,
        )


def _vote(readings: Sequence[Reading], weights: Sequence[float], multi: bool) -> tuple[str, ...]:
    """Labels without scores, by the weight of the windows that name them (single label: name first)."""
    votes: dict[str, float] = {}
    for reading, weight in zip(readings, weights, strict=True):
        for label in reading.found if multi else reading.found[:1]:
            votes[label] = votes.get(label, 0.0) + weight
    return tuple(sorted(votes, key=lambda label: -votes[label]))


def _joined(outcomes: Sequence[_Outcome]) -> _Outcome:
    """Outcomes of parts between which no final was held."""
    if len(outcomes) == 1:
        return outcomes[0]
    scores = {label: score for outcome in outcomes for label, score in outcome.scores.items()}
    candidates = [label for outcome in outcomes for label in outcome.candidates]
    return _Outcome(tuple(arithmetic.ranked({label: scores.get(label) for label in candidates})), scores, None)


def _split_notice(answered: Sequence[Answered]) -> tuple[Notice, ...]:
    parts = {answer.shard.part for answer in answered if answer.shard.round == 0}
    if len(parts) == 1:
        return ()
    message = f"the labels did not fit beside the text; they were asked in {len(parts)} parts, the best met in a final"
    return (Notice("labels_split", message, {"parts": len(parts)}),)
