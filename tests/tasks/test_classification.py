"""Classification: prompts planned, answers of windows and parts merged."""

from __future__ import annotations

import math
from typing import Any

import pytest

from seqgpt_ui.errors import LabelsTooLong, WorkerError
from seqgpt_ui.protocol import ChoiceConstraint, Completion
from seqgpt_ui.tasks.classification import ClassificationTask
from seqgpt_ui.tasks.labels import read_labels
from seqgpt_ui.tasks.options import ClassifyOptions
from seqgpt_ui.tasks.results import Classification
from seqgpt_ui.tasks.task import Answered, Document, Shard, Task
from tests.fakes import answer_all, completion, planner, probabilities

LABELS = "正面，负面，中性"


def task(labels: str | list[str] = LABELS, *, max_prompt_tokens: int = 1024, **options: Any) -> ClassificationTask:
    label_set = read_labels(labels, param="labels", max_labels=2000)
    return ClassificationTask(label_set, ClassifyOptions(**options), planner("classify", max_prompt_tokens))


def merge(made: ClassificationTask, document: Document, answered: list[Answered]) -> Classification:
    result = made.merge(document, answered)
    assert isinstance(result, Classification)
    return result


def ask(made: ClassificationTask, text: str, *answers: Completion) -> Classification:
    document = Document(text)
    shards = made.plan(document)
    assert len(shards) == len(answers)
    return merge(made, document, [Answered(shard, answer) for shard, answer in zip(shards, answers, strict=True)])


def codes(result: Classification) -> list[str]:
    return [notice.code for notice in result.warnings]


def chosen(result: Classification) -> list[str]:
    return [item.label for item in result.labels]


def test_the_task_meets_its_contract() -> None:
    made: Task[Classification] = task()
    assert made.plan(Document("好"))


def test_one_prompt_asks_for_one_of_the_labels() -> None:
    (shard,) = task(["正面", "a,b"]).plan(Document(" 很好 "))
    assert str(shard.prompt) == "输入: 很好\n分类: 正面，a，b\n输出: [GEN]"
    assert shard.labels == ("正面", "a,b")
    assert shard.constraint == ChoiceConstraint(choices=["正面", "a，b"])
    assert (shard.window.start, shard.window.end) == (0, 4)


def test_scores_are_relative_and_mass_is_not() -> None:
    result = ask(task(), "很好", probabilities({"正面": 0.3, "负面": 0.1, "中性": 0.2}))
    assert chosen(result) == ["正面"]
    assert result.labels[0].score == pytest.approx(0.5)
    assert result.scores == pytest.approx({"正面": 0.5, "负面": 1 / 6, "中性": 1 / 3})
    assert result.mass == pytest.approx(0.6)
    assert (result.raw, result.windows, result.num_tokens) == ("正面\n", 1, 10)
    assert (result.template, result.mode, result.warnings) == ("official.v1", "fast", ())


def test_labels_keep_the_users_spelling() -> None:
    result = ask(task([" a,b ", "c"]), "x", probabilities({"a，b": 0.9, "c": 0.1}))
    assert chosen(result) == ["a,b"]
    assert result.scores is not None
    assert list(result.scores) == ["a,b", "c"]


def test_labels_that_were_not_opened_have_no_score() -> None:
    result = ask(task(), "x", completion("正面\n", choices={"正面": -0.1, "负面": None, "中性": -2.0}))
    assert chosen(result) == ["正面"]
    assert result.scores is not None
    assert result.scores["负面"] is None


def test_equal_scores_go_to_the_label_named_first() -> None:
    assert chosen(ask(task(), "x", completion("", choices=dict.fromkeys(LABELS.split("，"), -1.0)))) == ["正面"]


def test_without_any_score_the_text_decides() -> None:
    result = ask(task(), "x", completion("负面\n", choices=dict.fromkeys(LABELS.split("，"), None)))
    assert [(item.label, item.score) for item in result.labels] == [("负面", None)]
    assert result.mass is None


def test_threshold_and_fallback() -> None:
    answer = probabilities({"正面": 0.2, "负面": 0.2, "中性": 0.2})
    result = ask(task(threshold=0.5), "x", answer)
    assert result.labels == ()
    assert codes(result) == ["below_threshold"]
    assert chosen(ask(task(threshold=0.5, fallback_label="其他"), "x", answer)) == ["其他"]


def test_windows_are_averaged_by_their_tokens() -> None:
    text = "甲" * 60 + "。" + "乙" * 20 + "。"
    made = task("正面，负面", max_prompt_tokens=100)
    shards = made.plan(Document(text))
    assert [(shard.window.start, shard.window.end, shard.window.num_tokens) for shard in shards] == [
        (0, 61, 61),
        (61, 82, 21),
    ]
    result = ask(made, text, probabilities({"正面": 0.9, "负面": 0.1}), probabilities({"正面": 0.1, "负面": 0.9}))
    expected = (61 * 0.9 + 21 * 0.1) / 82
    assert result.scores == pytest.approx({"正面": expected, "负面": 1 - expected})
    assert chosen(result) == ["正面"]
    assert result.windows == 2
    assert result.num_tokens == 20
    assert result.prompt == "\n\n".join(str(shard.prompt) for shard in shards)
    assert result.raw == "正面\n\n\n负面\n"
    assert [(shard.start, shard.end, shard.raw) for shard in result.shards] == [(0, 61, "正面\n"), (61, 82, "负面\n")]
    assert result.shards[1].scores == pytest.approx({"正面": 0.1, "负面": 0.9})


def test_multi_label_asks_for_several() -> None:
    (shard,) = task(multi_label=True, min_labels=2, max_labels=9).plan(Document("x"))
    assert isinstance(shard.constraint, ChoiceConstraint)
    assert shard.constraint.multi
    assert (shard.constraint.min_choices, shard.constraint.max_choices) == (2, 3)


def test_multi_label_scores_are_those_of_the_emitted_labels() -> None:
    answer = completion("负面，正面\n", choices={"负面": math.log(0.4), "正面": math.log(0.6)})
    result = ask(task(multi_label=True), "x", answer)
    assert {item.label: item.score for item in result.labels} == pytest.approx({"正面": 0.6, "负面": 0.4})
    assert chosen(result) == ["正面", "负面"]
    assert result.scores == pytest.approx({"正面": 0.6, "负面": 0.4, "中性": None})
    assert result.mass is None


def test_multi_label_takes_the_highest_of_all_windows() -> None:
    text = "甲" * 60 + "。" + "乙" * 20 + "。"
    answers = [
        completion("正面\n", choices={"正面": math.log(0.3)}),
        completion("负面，正面\n", choices={"负面": math.log(0.8), "正面": math.log(0.5)}),
    ]
    result = ask(task("正面，负面", multi_label=True, threshold=0.6, max_prompt_tokens=100), text, *answers)
    assert chosen(result) == ["负面"]
    assert result.scores == pytest.approx({"正面": 0.5, "负面": 0.8})


def official(*texts: str, multi: bool = False, text: str = "x", limit: int = 1024, **options: Any) -> Classification:
    made = task("正面，负面", mode="official", multi_label=multi, max_prompt_tokens=limit, **options)
    assert all(shard.constraint is None for shard in made.plan(Document(text)))
    return ask(made, text, *map(completion, texts))


def test_official_answers_are_parsed_and_have_no_scores() -> None:
    result = official("负面\n")
    assert [(item.label, item.score) for item in result.labels] == [("负面", None)]
    assert result.scores == {"正面": None, "负面": None}
    assert result.mass is None
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("raw", "labels", "warnings"),
    [
        ("负面，正面", ["负面"], ["multiple_labels"]),
        ("开心", [], ["unknown_labels", "no_valid_label"]),
        ("开心，正面", ["正面"], ["unknown_labels"]),
        ("", [], ["empty_output", "no_valid_label"]),
    ],
)
def test_official_answers_that_are_odd_are_told(raw: str, labels: list[str], warnings: list[str]) -> None:
    result = official(raw)
    assert chosen(result) == labels
    assert codes(result) == warnings


def test_official_multi_label_takes_all_that_are_named() -> None:
    result = official("负面，正面", multi=True)
    assert chosen(result) == ["负面", "正面"]
    assert result.warnings == ()


def test_official_windows_vote_with_their_tokens() -> None:
    text = "甲" * 60 + "。" + "乙" * 20 + "。"
    assert chosen(official("正面", "负面", text=text, limit=100)) == ["正面"]
    assert chosen(official("", "负面", text=text, limit=100)) == ["负面"]
    assert chosen(official("正面", "负面，正面", text=text, limit=100, multi=True)) == ["正面", "负面"]


def test_official_mode_applies_no_threshold_but_the_fallback() -> None:
    result = official("正面", threshold=0.9)
    assert chosen(result) == ["正面"]
    assert codes(result) == ["threshold_ignored"]
    assert chosen(official("开心", fallback_label="其他")) == ["其他"]


NAMES = [f"标签{number:02}" for number in range(40)]
LONG = "甲" * 300


def by_rank(shard: Shard) -> Completion:
    """Later labels are likelier; a multi answer emits the last two."""
    constraint = shard.constraint
    assert isinstance(constraint, ChoiceConstraint)
    logprobs = {choice: -10.0 + 0.1 * NAMES.index(choice) for choice in constraint.choices}
    kept = list(logprobs.items())[-2:] if constraint.multi else list(logprobs.items())
    return completion(constraint.choices[-1] + "\n", choices=dict(kept))


def run(made: ClassificationTask, text: str) -> tuple[Classification, list[int]]:
    """All rounds, and the number of shards of each."""
    document, answered, rounds = Document(text), [], []
    shards = made.plan(document)
    while True:
        rounds.append(len(shards))
        answered += answer_all(shards, by_rank)
        outcome = made.merge(document, answered)
        if isinstance(outcome, Classification):
            return outcome, rounds
        assert all(shard.round == len(rounds) for shard in outcome)
        shards = outcome


def test_labels_that_do_not_fit_meet_in_a_final() -> None:
    result, rounds = run(task(NAMES, max_prompt_tokens=200), LONG)
    assert len(rounds) == 2
    assert chosen(result) == ["标签39"]
    assert codes(result) == ["labels_split"]
    parts = {shard.labels for shard in result.shards if len(shard.labels) > 5}
    assert sorted(label for part in parts for label in part) == NAMES
    finalists = {max(part) for part in parts}
    assert result.scores is not None
    assert {label for label, score in result.scores.items() if score is not None} == finalists
    assert math.fsum(score for score in result.scores.values() if score is not None) == pytest.approx(1.0)
    assert result.warnings[0].values == {"parts": len(parts)}


def test_emitted_labels_of_all_parts_meet_in_the_final_of_multi_label() -> None:
    result, rounds = run(task(NAMES, max_prompt_tokens=200, multi_label=True), LONG)
    assert len(rounds) >= 2
    assert chosen(result) == ["标签39", "标签38"]
    assert result.mass is None


def test_a_final_that_would_not_be_smaller_is_not_held() -> None:
    labels = ["长" * 60, "短" * 60]
    made = task(labels, max_prompt_tokens=170, multi_label=True)
    document = Document("甲" * 100)
    shards = made.plan(document)
    assert {shard.part for shard in shards} == {0, 1}
    answered = answer_all(shards, lambda shard: completion("", choices={shard.labels[0]: -0.5 - shard.part}))
    result = merge(made, document, answered)
    assert chosen(result) == labels
    assert codes(result) == ["labels_split"]


def test_two_labels_that_never_fit_together_are_refused() -> None:
    with pytest.raises(LabelsTooLong):
        task(["长" * 60, "短" * 60], max_prompt_tokens=170).plan(Document("甲" * 100))


def test_official_parts_without_an_answer_send_nobody_to_the_final() -> None:
    made = task(NAMES, max_prompt_tokens=200, mode="official")
    document = Document(LONG)
    shards = made.plan(document)
    answered = answer_all(shards, lambda shard: completion("标签00" if "标签00" in shard.labels else "不知道"))
    result = merge(made, document, answered)
    assert chosen(result) == ["标签00"]


def test_markup_in_text_and_labels_is_told_once() -> None:
    made = task(["正面[GEN]", "负面"])
    result = ask(made, "好</s>", probabilities({"正面[GEN]": 0.9, "负面": 0.1}))
    assert [(notice.code, notice.values["param"]) for notice in result.warnings] == [
        ("markup_in_text", "labels"),
        ("markup_in_text", "text"),
    ]


def test_doubles_and_cut_answers_are_told() -> None:
    answer = completion("正面", choices={"正面": -1.0, "负面": -2.0}, finish_reason="length")
    result = ask(task("正面，负面，正面"), "x", answer)
    assert codes(result) == ["duplicate_labels", "truncated_output"]


def test_many_labels_show_no_scores_unless_asked() -> None:
    names = [f"标签{number:03}" for number in range(60)]
    answer = completion("标签000\n", choices={name: -1.0 - number for number, name in enumerate(names)})
    assert ask(task(names), "x", answer).scores is None
    scores = ask(task(names, all_scores=True), "x", answer).scores
    assert scores is not None
    assert list(scores) == names


@pytest.mark.parametrize("choices", [None, {"开心": -1.0}])
def test_an_answer_outside_the_constraint_is_a_worker_error(choices: dict[str, float | None] | None) -> None:
    with pytest.raises(WorkerError):
        ask(task(), "x", completion("开心\n", choices=choices))
