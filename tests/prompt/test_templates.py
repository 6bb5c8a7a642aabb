"""The template library and the sandbox that its bodies are compiled in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.errors import InvalidTemplate
from seqgpt_ui.prompt.templates import MAX_SOURCE_CHARS, TaskTemplate, TemplateLibrary, parse_template

LIBRARY = TemplateLibrary.from_folder()
HEAD = "---\ntitle: {zh: 题, en: Title}\ntask: classify\n---\n"
OFFICIAL_BODY = "输入: {{ text }}\n{{ task_word }}: {{ labels }}\n输出:"

DEFAULT_LABELS = {
    "news_topics": "财经，体育，科技，娱乐，国际，教育，健康，军事，汽车，房产",
    "sentiment": "正面，负面，中性",
    "customer_intent": "咨询，投诉，退款，物流查询，售后维修，建议，表扬",
    "review_aspects": "质量，价格，物流，服务，包装，外观",
    "nli_pair": "蕴含，矛盾，中立",
    "toxic_content": "正常，辱骂，歧视，威胁，色情，广告",
    "entities": "人名，地名，机构名",
    "resume": "姓名，学校，专业，公司，职位，电话，邮箱",
    "contract_clauses": "甲方，乙方，合同金额，签订日期，合同期限，违约责任",
    "medical_note": "症状，疾病，药品，检查，身体部位",
    "financial_event": "公司，金额，日期，股东，持股比例",
    "order_logistics": "收件人，电话，地址，商品，运单号，金额",
    "entities_en": "person，location，organisation",
    "ticket_intent_en": "billing，bug report，feature request，account access，cancellation，praise",
}
EXTRACTIONS = {
    "entities",
    "resume",
    "contract_clauses",
    "medical_note",
    "financial_event",
    "order_logistics",
    "entities_en",
}


def write(folder: Path, name: str, source: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(source, encoding="utf-8")


@pytest.mark.parametrize("name", DEFAULT_LABELS)
def test_every_preset_has_its_labels_and_two_examples(name: str) -> None:
    template = LIBRARY.get(name)
    assert "，".join(template.labels) == DEFAULT_LABELS[name]
    assert template.task == ("extract" if name in EXTRACTIONS else "classify")
    assert len(template.examples) == 2
    assert all(example.text.strip() == example.text for example in template.examples)
    assert template.title["zh"]
    assert template.title["en"]
    assert template.multi_label == (name == "review_aspects")


@pytest.mark.parametrize("name", DEFAULT_LABELS)
def test_presets_speak_the_official_prompt(name: str) -> None:
    values = {"text": "T", "labels": "L", "task_word": "W"}
    assert "".join(text for text, _ in LIBRARY.get(name).pieces(values)).rstrip() == "输入: T\nW: L\n输出:"


def test_sentence_pairs_are_joined_by_one_tab() -> None:
    for example in LIBRARY.get("nli_pair").examples:
        first, second = example.text.split("\t")
        assert first.strip()
        assert second.strip()


def test_presets_leave_out_skeletons() -> None:
    names = [template.name for template in LIBRARY.presets()]
    assert names == sorted([*DEFAULT_LABELS, "free"])


def test_the_newest_version_of_a_name_is_taken(tmp_path: Path) -> None:
    write(tmp_path, "mine.v1.jinja", HEAD + "one {{ text }}")
    write(tmp_path, "mine.v10.jinja", HEAD + "ten {{ text }}")
    write(tmp_path, "mine.v2.jinja", HEAD + "two {{ text }}")
    library = TemplateLibrary.from_folder(tmp_path)
    assert library.get("mine").id == "mine.v10"
    assert library.get("mine.v2").version == 2
    assert [template.id for template in library.presets()] == ["mine.v10"]


def test_a_preset_without_a_body_takes_the_official_one(tmp_path: Path) -> None:
    write(tmp_path, "official.v1.jinja", HEAD + OFFICIAL_BODY)
    write(tmp_path / "library", "mine.v1.jinja", HEAD)
    values = {"text": "a", "labels": "b", "task_word": "c"}
    library = TemplateLibrary.from_folder(tmp_path)
    assert "".join(text for text, _ in library.get("mine").pieces(values)) == "输入: a\nc: b\n输出:"


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(InvalidTemplate, match=r"unknown template 'nope'.*sentiment") as caught:
        LIBRARY.get("nope")
    assert caught.value.param == "template"


def test_file_names_carry_a_version(tmp_path: Path) -> None:
    write(tmp_path, "Mine.jinja", HEAD)
    with pytest.raises(InvalidTemplate, match=r"Mine\.jinja: expected a name"):
        TemplateLibrary.from_folder(tmp_path)


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("no front matter", "front matter"),
        ("---\n: : :\n---\nx", "not YAML"),
        ("---\n- a\n---\nx", "not a mapping"),
        ("---\ntitle: {zh: a, en: b}\ntask: dance\n---\nx", "task is 'dance'"),
        ("---\ntitle: only\ntask: classify\n---\nx", "title needs zh and en"),
        ("---\ntitle: {zh: a}\ntask: classify\n---\nx", "title needs zh and en"),
        (HEAD + "{{ text", "cannot be read"),
        (HEAD + "x" * (MAX_SOURCE_CHARS + 1), "limit"),
        (HEAD + "\ufdd0", "noncharacter"),
    ],
)
def test_unusable_files_are_refused_with_their_cause(source: str, cause: str) -> None:
    with pytest.raises(InvalidTemplate, match=cause):
        parse_template("mine", 1, source)


@pytest.mark.parametrize(
    "body",
    [
        "{% for x in text %}{{ x }}{% endfor %}",
        "{{ text.__class__ }}",
        "{{ text.__class__.__mro__[1].__subclasses__() }}",
        "{{ text['a'] }}",
        "{{ range(10) }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 2 ** 99 }}",
        "{{ text ~ text }}",
        "{% set x = text %}{{ x }}",
        "{% include 'official.v1.jinja' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{% macro m() %}{% endmacro %}",
        "{% block b %}{% endblock %}",
        "{{ [text, text] }}",
        "{{ {'a': text} }}",
        "{{ cycler('a') }}",
        "{{ text|replace('a', 'b') }}",
        "{{ text|attr('__class__') }}",
        "{{ text is unheardof }}",
    ],
)
def test_everything_but_placing_and_choosing_is_refused(body: str) -> None:
    with pytest.raises(InvalidTemplate, match=r"mine\.v1\.jinja"):
        parse_template("mine", 1, HEAD + body)


def pieces(body: str, **values: str) -> list[tuple[str, bool]]:
    return list(parse_template("mine", 1, HEAD + body).pieces(values))


def test_values_are_content_and_the_rest_is_markup() -> None:
    assert pieces("a {{ text }} b {{ labels }}", text="T", labels="L") == [
        ("a ", False),
        ("T", True),
        (" b ", False),
        ("L", True),
    ]


def test_a_template_may_choose() -> None:
    body = "{% if language == 'zh' %}{{ text }}{% else %}none{% endif %}"
    assert pieces(body, text="T", language="zh") == [("T", True)]
    assert pieces(body, text="T", language="en") == [("none", False)]


def test_filters_apply_to_the_value() -> None:
    assert pieces("{{ text|trim|upper }}", text=" a ") == [("A", True)]


def test_a_value_that_is_not_given_is_refused() -> None:
    with pytest.raises(InvalidTemplate, match="'nothing' is undefined"):
        pieces("{{ nothing }}", text="T")


@given(st.text(max_size=60))
def test_no_value_is_read_as_template_or_mark(text: str) -> None:
    for hostile in (text, "{{ labels }}" + text, "\ufdd00\ufdd1" + text, "<b>&" + text):
        expected = [(hostile, True), ("|", False), ("L", True)]
        assert pieces("{{ text }}|{{ labels }}", text=hostile, labels="L") == expected


def test_examples_may_carry_labels_of_their_own() -> None:
    head = HEAD.replace("---\n", "---\nexamples:\n  - plain\n  - {text: with, labels: [甲, 乙]}\n", 1)
    template: TaskTemplate = parse_template("mine", 1, head + "x")
    assert [(example.text, example.labels) for example in template.examples] == [
        ("plain", None),
        ("with", ("甲", "乙")),
    ]
