"""Extraction as a task: fields in balanced chunks, each beside every window; spans become offsets of the whole text.

Pure: plans prompts, merges answers, knows neither worker nor pages. Windows overlap, so a span may come twice or
in part: equal ones are merged, a part that touches an inner edge of its window gives way to a longer span over it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from seqgpt_ui.errors import WorkerError
from seqgpt_ui.prompt.constraint import copy_constraint, copy_source
from seqgpt_ui.prompt.lint import hostile_markup
from seqgpt_ui.prompt.parse import ParseIssue, parse_extraction
from seqgpt_ui.prompt.render import shown_label
from seqgpt_ui.protocol import Mode
from seqgpt_ui.tasks.alignment import Aligner, Span, find_all
from seqgpt_ui.tasks.labels import LabelSet
from seqgpt_ui.tasks.planner import Planner
from seqgpt_ui.tasks.results import Entity, Extraction, Notice
from seqgpt_ui.tasks.task import GAP, Answered, Document, Shard, distinct, num_windows, trace, truncation

FIELDS_PER_PROMPT = 6
MAX_OCCURRENCES = 1_000


@dataclass(frozen=True, slots=True)
class _Found:
    """A value of one window: a span of the whole text, or None; ``at_edge`` if it touches an inner window edge."""

    field: str
    text: str
    span: Span | None
    score: float | None
    at_edge: bool = False


class ExtractionTask:
    """Takes the pieces of texts that fields name. Made per request; see ``tasks.task.Task``."""

    def __init__(self, fields: LabelSet, mode: Mode, planner: Planner) -> None:
        self._fields = fields.labels
        self._mode = mode
        self._planner = planner
        self._notices = (*fields.notices, *hostile_markup("\n".join(fields.labels), "fields"))

    def plan(self, document: Document) -> list[Shard]:
        """One prompt per chunk of fields and window. Raises ``LabelsTooLong`` when a field leaves no room."""
        layout = self._planner.layout(document.text, self._fields, part_size=FIELDS_PER_PROMPT, overlap=True)
        shards = []
        for index, part in enumerate(layout.parts):
            for window in layout.windows:
                piece = document.text[window.start : window.end]
                official = self._mode == "official"
                constraint = None if official else copy_constraint(part, piece, self._planner.profile)
                shards.append(Shard(self._planner.render(piece, part), part, window, constraint, part=index))
        return shards

    def merge(self, document: Document, answered: Sequence[Answered]) -> Extraction:
        """The result; there is no second round. Raises ``WorkerError`` when an answer names a field not asked."""
        issues: list[ParseIssue] = []
        found = [item for answer in answered for item in self._read(document.text, answer, issues)]
        entities, cut = _entities(document.text, _without_fragments(found), self._fields)
        return Extraction(
            entities=entities,
            fields=_by_field(entities, self._fields),
            prompt=GAP.join(str(answer.shard.prompt) for answer in answered),
            raw=GAP.join(answer.completion.text for answer in answered),
            windows=num_windows(answered),
            num_tokens=sum(answer.completion.num_prompt_tokens for answer in answered),
            warnings=distinct(
                [
                    *self._notices,
                    *hostile_markup(document.text),
                    *truncation(answered),
                    *_issue_notices(issues),
                    *_unaligned_notice(entities),
                    *cut,
                ]
            ),
            shards=tuple(map(trace, answered)),
            template=self._planner.template_id,
            mode=self._mode,
        )

    def _read(self, text: str, answer: Answered, issues: list[ParseIssue]) -> list[_Found]:
        window = answer.shard.window
        source, skipped = copy_source(text[window.start : window.end])
        values = _copied(answer) if answer.shard.constraint is not None else self._parsed(answer, source, issues)
        shift = window.start + skipped
        found = []
        for field, value, span, score in values:
            if span is None or source[span[0] : span[1]] != value:
                span = Aligner(source).align(value)
            if span is None:
                found.append(_Found(field, value, None, score))
                continue
            start, end = span[0] + shift, span[1] + shift
            at_edge = (span[0] == 0 and window.start > 0) or (span[1] == len(source) and window.end < len(text))
            found.append(_Found(field, text[start:end], (start, end), score, at_edge))
        return found

    def _parsed(self, answer: Answered, source: str, issues: list[ParseIssue]) -> list[_Value]:
        parsed = parse_extraction(answer.completion.text, answer.shard.labels, source, self._planner.profile)
        issues.extend(parsed.issues)
        aligner = Aligner(source)
        values: list[_Value] = []
        for field, pieces in parsed.values.items():
            used: set[Span] = set()
            for piece in pieces:
                span = aligner.align(piece, used)
                if span is not None:
                    used.add(span)
                    piece = source[span[0] : span[1]]
                values.append((field, piece, span, None))
        return values


_Value = tuple[str, str, Span | None, float | None]


def _copied(answer: Answered) -> list[_Value]:
    """The spans of a constrained answer, by the user's spelling of the field."""
    if answer.completion.spans is None:
        raise WorkerError("the worker answered a copy without spans")
    known = {shown_label(field): field for field in answer.shard.labels}
    try:
        return [(known[span.field], span.text, (span.start, span.end), span.score) for span in answer.completion.spans]
    except KeyError as error:
        raise WorkerError(f"the worker answered a field that was not asked: {error}") from error


def _without_fragments(found: Sequence[_Found]) -> list[_Found]:
    """Drop pieces cut off by a window edge where a longer span of any field lies over them."""
    spans = sorted({item.span for item in found if item.span is not None}, key=lambda span: (span[0], -span[1]))
    covered: set[Span] = set()
    furthest = -1
    for start, group in groupby(spans, key=lambda span: span[0]):
        ends = [end for _, end in group]
        covered.update((start, end) for end in ends if end <= furthest or end < ends[0])
        furthest = max(furthest, ends[0])
    return [item for item in found if not (item.at_edge and item.span in covered)]


def _entities(
    text: str, found: Sequence[_Found], fields: Sequence[str]
) -> tuple[tuple[Entity, ...], tuple[Notice, ...]]:
    """One entity per field and place, by place; a score is the highest of the windows that saw it."""
    merged: dict[tuple[str, str, Span | None], float | None] = {}
    for item in found:
        key = (item.field, item.text, item.span)
        known = [score for score in (merged.get(key), item.score) if score is not None]
        merged[key] = max(known, default=None)
    order = {field: index for index, field in enumerate(fields)}
    keys = sorted(merged, key=lambda key: ((0, *key[2]) if key[2] else (1, 0, 0), order[key[0]]))
    places = {value: find_all(text, value, MAX_OCCURRENCES + 1) for _, value, span in keys if span is not None}
    entities = [
        Entity(
            field=field,
            text=value,
            start=span[0] if span else None,
            end=span[1] if span else None,
            score=merged[field, value, span],
            occurrences=places.get(value, ())[:MAX_OCCURRENCES],
        )
        for field, value, span in keys
    ]
    too_many = sum(len(spans) > MAX_OCCURRENCES for spans in places.values())
    message = f"more than {MAX_OCCURRENCES} occurrences of a value; the first ones are listed"
    notice = Notice("occurrences_cut", message, {"limit": MAX_OCCURRENCES})
    return tuple(entities), (notice,) if too_many else ()


def _by_field(entities: Sequence[Entity], fields: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    return {
        field: tuple(dict.fromkeys(entity.text for entity in entities if entity.field == field)) for field in fields
    }


def _issue_notices(issues: Sequence[ParseIssue]) -> list[Notice]:
    notices = []
    if any(issue.code == "empty_output" for issue in issues):
        notices.append(Notice("empty_output", "the model answered nothing to a prompt"))
    unparsed = [issue.text for issue in issues if issue.code == "unparsed"]
    if unparsed:
        shown = " / ".join(dict.fromkeys(unparsed))
        notices.append(Notice("unparsed_output", f"lines of the answer belong to no field: {shown}", {"text": shown}))
    repeated = sum(issue.code == "duplicate_value" for issue in issues)
    if repeated:
        notices.append(Notice("duplicate_values", f"{repeated} repeated values were merged", {"count": repeated}))
    return notices


def _unaligned_notice(entities: Sequence[Entity]) -> tuple[Notice, ...]:
    count = sum(entity.start is None for entity in entities)
    if not count:
        return ()
    message = f"{count} values do not stand in the text; they have no place"
    return (Notice("unaligned_spans", message, {"count": count}),)
