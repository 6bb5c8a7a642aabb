"""Extraction over windows: global offsets, doubles merged, fragments dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.protocol import Completion, SpanMessage
from seqgpt_ui.tasks.extraction import ExtractionTask
from seqgpt_ui.tasks.task import Answered, Document, Shard
from tests.fakes import completion, span
from tests.tasks.extracting import extract, found, places, source, task


def test_windows_give_global_offsets_and_doubles_are_merged() -> None:
    filler = "这里写着一些没有人名的句子。"
    text = filler * 8 + "张三在北京。" + filler * 8
    made = task(max_prompt_tokens=130)
    shards = made.plan(Document(text))
    assert len(shards) == 3
    result = extract(made, text, found({"人名": ["张三"], "地名": ["北京"]}))
    start = text.index("张三")
    assert places(result) == [("人名", "张三", start, start + 2), ("地名", "北京", start + 3, start + 5)]
    assert result.windows == len(shards)
    assert len(result.shards) == len(shards)
    assert result.raw.count("\n\n") >= len(shards) - 1


def test_an_entity_across_an_edge_of_a_text_without_punctuation_is_found_once() -> None:
    name = "东方红太阳能科技有限公司"
    text = "甲" * 2495 + name + "乙" * 2500
    made = task(["公司"], max_prompt_tokens=300)

    def answer(shard: Shard) -> Completion:
        """Copies what it sees of the name, cut off by an edge or not."""
        window = source(shard)
        seen = "".join(character for character in window if character in name)
        return completion(spans=[span("公司", window, seen)] if seen else [])

    result = extract(made, text, answer)
    assert places(result) == [("公司", name, 2495, 2495 + len(name))]


def at(field: str, start: int, end: int, text: str) -> SpanMessage:
    return SpanMessage(field=field, text=text[start:end], start=start, end=end, score=0.5)


def two_windows(text: str) -> tuple[ExtractionTask, list[Shard]]:
    made = task(max_prompt_tokens=125)
    shards = made.plan(Document(text))
    assert len(shards) == 2
    return made, shards


TEXT = "甲" * 80 + "乙" * 80


def merge_spans(*of_windows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int | None, int | None]]:
    """Entities of global spans given per window, as (field, start, end)."""
    made, shards = two_windows(TEXT)
    answered = []
    for shard, spans in zip(shards, of_windows, strict=True):
        moved = [
            at(field, start - shard.window.start, end - shard.window.start, source(shard))
            for field, start, end in spans
        ]
        answered.append(Answered(shard, completion(spans=moved)))
    return [(entity.field, entity.start, entity.end) for entity in made.merge(Document(TEXT), answered).entities]


def test_fragments_at_an_inner_edge_give_way_to_a_longer_span_of_any_field() -> None:
    first, second = (shard.window for shard in two_windows(TEXT)[1])
    whole = ("人名", second.start + 2, first.end + 4)
    cut = ("地名", second.start + 2, first.end)
    assert merge_spans([cut], [whole]) == [whole]
    head = ("人名", second.start - 3, second.start + 5)
    tail = ("人名", second.start, second.start + 5)
    assert merge_spans([head], [tail]) == [head]


def test_fragments_that_nothing_covers_stay() -> None:
    first = two_windows(TEXT)[1][0].window
    cut = ("人名", first.end - 3, first.end)
    assert merge_spans([cut], []) == [cut]


def test_spans_inside_a_longer_one_stay_unless_an_edge_cut_them() -> None:
    assert merge_spans([("人名", 3, 9), ("地名", 4, 6), ("地名", 3, 9)], []) == [
        ("人名", 3, 9),
        ("地名", 3, 9),
        ("地名", 4, 6),
    ]


def test_the_ends_of_the_text_are_no_inner_edges() -> None:
    last = len(TEXT)
    first = [("人名", 0, 9), ("地名", 0, 4)]
    second = [("人名", last - 9, last), ("地名", last - 4, last)]
    assert sorted(merge_spans(first, second)) == sorted(first + second)


def test_the_best_score_of_a_double_counts() -> None:
    first, second = (shard.window for shard in two_windows(TEXT)[1])
    middle = second.start + 2
    made, shards = two_windows(TEXT)
    scores = iter([0.2, 0.9])
    answered = [
        Answered(
            shard,
            completion(
                spans=[
                    at("人名", middle - shard.window.start, middle + 3 - shard.window.start, source(shard)).model_copy(
                        update={"score": next(scores)}
                    )
                ]
            ),
        )
        for shard in shards
    ]
    (entity,) = made.merge(Document(TEXT), answered).entities
    assert entity.score == 0.9
    assert first.end > middle


CHARACTERS = st.sampled_from("张三李四北京上海。，\n 　\t💩𠀀a")


@settings(max_examples=60)
@given(
    st.text(CHARACTERS, min_size=1, max_size=500).filter(str.strip),
    st.integers(110, 200),
    st.randoms(use_true_random=False),
)
def test_every_span_of_any_answer_is_a_piece_of_the_text(text: str, limit: int, random: Any) -> None:
    made = task(max_prompt_tokens=limit)

    def answer(shard: Shard) -> Completion:
        window, spans = source(shard), []
        for field in shard.labels:
            start = random.randrange(len(window))
            end = random.randrange(start, min(len(window), start + 20)) + 1
            spans.append(at(field, start, end, window))
        return completion(spans=spans)

    result = extract(made, text, answer)
    assert result.entities
    for entity in result.entities:
        assert entity.start is not None
        assert text[entity.start : entity.end] == entity.text
        assert (entity.start, entity.end) in entity.occurrences
    starts = [entity.start for entity in result.entities if entity.start is not None]
    assert starts == sorted(starts)
    assert len({(entity.field, entity.start, entity.end) for entity in result.entities}) == len(result.entities)
