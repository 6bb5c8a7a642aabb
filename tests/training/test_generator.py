"""Tests of the synthetic data generator: sound gold, determinism, variety, both languages."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from training.generator import generate
from training.generator.dirt import dirty
from training.generator.domains import load_domains, split_entries
from training.generator.grammar import Draft, Grammar
from training.generator.pools import Pools
from training.rows import Row

NUM_ROWS = 1500
_HAN = re.compile(r"[一-龥]")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(generate(NUM_ROWS, seed=11))


def test_yields_the_asked_number_of_rows_with_distinct_ids(rows: list[Row]) -> None:
    assert len({row.id for row in rows}) == NUM_ROWS
    assert {(row.source, row.licence) for row in rows} == {("generator", "CC0-1.0")}


def test_spans_are_verbatim_and_clean(rows: list[Row]) -> None:
    for row in rows:
        if isinstance(row.gold, dict):
            for name, spans in row.gold.items():
                assert name in row.labels
                assert spans
                assert len(set(spans)) == len(spans)
                for span in spans:
                    assert span
                    assert span == span.strip()
                    assert span in row.text
                    assert not set("\n\t") & set(span)


def test_gold_labels_keep_the_order_of_the_label_set(rows: list[Row]) -> None:
    for row in rows:
        assert len(set(row.labels)) == len(row.labels) <= 16
        if not isinstance(row.gold, dict):
            assert row.task == "classify"
            assert row.gold
            assert tuple(label for label in row.labels if label in row.gold) == row.gold


def test_rows_are_single_line_texts(rows: list[Row]) -> None:
    assert all(row.text.strip() and "\n" not in row.text for row in rows)


def test_is_deterministic_for_a_seed_and_ignores_a_missing_lexicon_folder(rows: list[Row], tmp_path: Path) -> None:
    assert list(generate(200, seed=11, lexicons=tmp_path / "absent")) == rows[:200]
    assert next(generate(1, seed=12)) != rows[0]


def test_texts_vary(rows: list[Row]) -> None:
    assert len({row.text for row in rows}) >= 0.95 * NUM_ROWS


def test_both_languages_and_tasks_are_present(rows: list[Row]) -> None:
    chinese = sum(bool(_HAN.search(row.text)) for row in rows) / NUM_ROWS
    extraction = sum(row.task == "extract" for row in rows) / NUM_ROWS
    assert 0.55 < chinese < 0.75
    assert 0.35 < extraction < 0.65


def test_some_texts_meet_labels_of_the_other_language(rows: list[Row]) -> None:
    crossed = [row for row in rows if bool(_HAN.search(row.text)) != bool(_HAN.search("".join(row.labels)))]
    assert 0.02 < len(crossed) / NUM_ROWS < 0.15


def test_many_asked_fields_are_absent(rows: list[Row]) -> None:
    asked = sum(len(row.labels) for row in rows if row.task == "extract")
    found = sum(len(row.gold) for row in rows if row.task == "extract")
    empty = sum(not row.gold for row in rows if row.task == "extract")
    assert 0.25 < 1 - found / asked < 0.45
    assert empty > 0.05 * sum(row.task == "extract" for row in rows)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_pattern_and_rule_resolves(language: str) -> None:
    rng = Random(3)
    for domain in load_domains(language, Pools(language, seed=3)):
        assert set(domain.template) <= set(domain.names), domain.name
        for patterns in domain.sentences.values():
            for pattern in patterns:
                for _ in range(3):
                    draft = Draft()
                    domain.grammar.expand(pattern, draft, rng)
                    unnamed = {key for _, _, key in draft.spans} - set(domain.names)
                    assert domain.task == "classify" or not unnamed, (domain.name, unnamed)


def test_lexicon_words_enter_the_texts(tmp_path: Path) -> None:
    (tmp_path / "company_short_names.txt").write_text("奇妙鲸鱼\n", encoding="utf-8")
    (tmp_path / "thuocl_food.txt").write_text("\ufeff彩虹豆花\t12\n", encoding="utf-8")
    texts = "".join(row.text for row in generate(NUM_ROWS, seed=4, lexicons=tmp_path))
    assert "奇妙鲸鱼" in texts
    assert "彩虹豆花" in texts


def test_grammar_binds_repeated_values_and_pads_numbers() -> None:
    grammar = Grammar({"name": ("A", "B", "C")}, tags={"name": "person"})
    pattern = grammar.parse_all(["{name#1}-{name#1>}-{007-007}[ x| x]{ }"])[0]
    draft = Draft()
    grammar.expand(pattern, draft, Random(0))
    first, second, number = draft.text()[:-3].split("-")
    assert (first, number, draft.text()[-3:]) == (second, "007", " x ")
    assert draft.spans == [(0, 1, "person")]


def test_grammar_reports_an_unknown_rule_and_an_open_bracket() -> None:
    grammar = Grammar({})
    with pytest.raises(KeyError, match="nowhere"):
        grammar.resolve("nowhere")
    with pytest.raises(ValueError, match="unclosed"):
        grammar.parse_all(["[a|b"])


def test_noise_keeps_spans_in_place() -> None:
    for seed in range(60):
        draft = Draft()
        for part in ("收件人，", "Li 5，", "ok"):
            draft.add(part)
        draft.spans.append((4, 8, "person"))
        text, spans = dirty(draft, Random(seed))
        assert text[spans[0][0] : spans[0][1]] in {"Li 5", "Li ５"}


def test_split_entries_reads_lines_lists_and_words() -> None:
    assert split_entries("a b\n~\nc\n") == ("a b", "", "c")
    assert split_entries("a b; c") == ("a b", "c")
    assert split_entries("a b") == ("a", "b")
