"""Classifications as bars, rows and notes."""

from __future__ import annotations

from seqgpt_ui.api.serialize import classification_json
from seqgpt_ui.errors import InvalidLabels
from seqgpt_ui.tasks.results import LabelScore
from seqgpt_ui.ui.presenters.classification import (
    MAX_BARS,
    MAX_CELL_CHARS,
    MAX_ROWS,
    bars,
    failed_classification,
    present_classifications,
    table_headers,
    table_row,
)
from tests.fakes_web import NOTICE, classification

MODEL = {"name": "seqgpt-mini"}


def test_one_text() -> None:
    view = present_classifications(["a"], [classification()], MODEL, "en")
    assert view.bars == {"体育": 0.75, "财经": 0.25}
    assert view.is_heading_shown
    assert view.rows == []
    assert view.notes == ""
    assert view.prompt == "输入: x\n分类: 体育，财经\n输出: [GEN]"
    assert view.raw == "体育\n"
    assert view.details == "template official.v1 · mode Fast · 1 window(s) · 21 prompt tokens"
    assert view.json == {"results": [classification_json(classification())], "model": MODEL}


def test_several_texts() -> None:
    results = [classification(raw="one\n"), classification(raw="two\n", labels=())]
    view = present_classifications(["a", "b"], results, None, "zh")
    assert view.bars is None
    assert view.rows == [["a", "体育", "0.750"], ["b", "", ""]]
    assert view.raw == "one\n\n\ntwo\n"
    assert view.json is not None
    assert len(view.json["results"]) == 2


def test_a_long_table_is_cut() -> None:
    texts = [str(number) for number in range(MAX_ROWS + 50)]
    view = present_classifications(texts, [classification() for _ in texts], None, "en")
    assert len(view.rows) == MAX_ROWS
    assert view.json is not None
    assert len(view.json["results"]) == len(texts)


def test_no_label() -> None:
    view = present_classifications(["a"], [classification(labels=(), warnings=(NOTICE,))], None, "zh")
    assert "没有符合的标签" in view.notes
    assert not view.is_heading_shown
    assert view.bars == {"体育": 0.75, "财经": 0.25}


def test_several_labels_have_no_single_heading() -> None:
    result = classification(labels=(LabelScore("体育", 0.9), LabelScore("财经", 0.4)), scores=None, mass=None)
    view = present_classifications(["a"], [result], None, "en")
    assert view.bars == {"体育": 0.9, "财经": 0.4}
    assert not view.is_heading_shown


def test_labels_without_scores_are_named() -> None:
    result = classification(labels=(LabelScore("体育", None), LabelScore("财经", None)), scores=None)
    assert bars(result) == "体育，财经"
    assert bars(classification(labels=(), scores=None)) is None


def test_unknown_scores_are_no_bars() -> None:
    assert bars(classification(scores={"体育": 0.75, "财经": None})) == {"体育": 0.75}


def test_zero_is_a_score() -> None:
    assert bars(classification(scores={"体育": 0.0, "财经": 1.0})) == {"财经": 1.0, "体育": 0.0}


def test_bars_are_sorted_and_bounded() -> None:
    scores: dict[str, float | None] = {f"label {number}": number / 100 for number in range(100)}
    shown = bars(classification(scores=scores))
    assert isinstance(shown, dict)
    assert len(shown) == MAX_BARS
    assert next(iter(shown)) == "label 99"
    assert list(shown.values()) == sorted(shown.values(), reverse=True)


def test_warnings_are_shown_once() -> None:
    results = [classification(warnings=(NOTICE,)), classification(warnings=(NOTICE,))]
    view = present_classifications(["a", "b"], results, None, "en")
    assert view.notes.count("<p") == 1


def test_long_text_is_shortened_in_the_table() -> None:
    shown = table_row("长" * 1000, classification())[0]
    assert len(shown) == MAX_CELL_CHARS
    assert shown.endswith("…")
    assert table_row("长" * MAX_CELL_CHARS, classification())[0] == "长" * MAX_CELL_CHARS


def test_error() -> None:
    view = failed_classification(InvalidLabels("labels is <empty>", param="labels"), "zh")
    assert view.bars is None
    assert view.json is None
    assert "标签有误：labels is &lt;empty&gt;" in view.notes


def test_headers_follow_the_language() -> None:
    assert table_headers("zh") == ["文本", "标签", "分数"]
    assert table_headers("en") == ["Text", "Labels", "Score"]
