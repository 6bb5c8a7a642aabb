"""Pools of names and words: cached Faker values, and words of an optional lexicon folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from faker import Faker

MAX_LEXICON_WORDS = 5000
# Faker takes about 0.1 ms a value, so only names, which vary most in texts, get large pools.
MAX_FAKER_VALUES = 600
MAX_FAKER_NAMES = 1800
_LOCALES = {"zh": "zh_CN", "en": "en_US"}
_FAKER_METHODS: dict[str, Callable[[Faker], str]] = {
    "faker_person": lambda faker: str(faker.name()),
    "faker_first_name": lambda faker: str(faker.first_name()),
    "faker_last_name": lambda faker: str(faker.last_name()),
    "faker_company": lambda faker: str(faker.company()),
    "faker_email": lambda faker: str(faker.email()),
    "faker_user": lambda faker: str(faker.user_name()),
    "faker_city": lambda faker: str(faker.city()),
    "faker_job": lambda faker: str(faker.job()),
    "faker_street": lambda faker: str(faker.street_address()),
}
_TITLES = re.compile(r"^(?:Mr|Mrs|Ms|Miss|Dr|Mx)\.? | (?:MD|DDS|DVM|PhD|Jr\.|Sr\.|II|III|IV|V)$")
# Rule -> (lexicon file, pattern of the words to take): the lists mix word kinds, the endings tell them apart.
LEXICON_RULES: dict[str, tuple[str, str]] = {
    "town": ("thuocl_diming.txt", r"[一-龥]{1,3}(?:市|县|区|镇|乡|村)"),
    "landmark": ("thuocl_diming.txt", r"[一-龥]{1,4}(?:山|湖|寺|公园|大桥|机场|水库|古镇|火车站|体育馆)"),
    "road": ("thuocl_diming.txt", r"[一-龥]{2,3}(?:路|大道|大街)"),
    "school": ("thuocl_diming.txt", r"[一-龥]{2,6}(?:大学|中学|小学)"),
    "known_person": ("thuocl_lishimingren.txt", r"[一-龥]{2,3}"),
    "company_short": ("company_short_names.txt", r"[一-龥]{2,5}"),
    "dish": ("thuocl_food.txt", r"[一-龥]{3,5}"),
    "disease": ("thuocl_medical.txt", r"[一-龥]{1,6}(?:[^疾毛发]病|炎|综合征|癌|瘤)"),
    "drug": ("thuocl_medical.txt", r"[一-龥]{2,7}(?:片|胶囊|颗粒|丸|注射液|口服液|软膏)"),
    "tech_word": ("thuocl_IT.txt", r"[一-龥]{3,5}"),
    "law_word": ("thuocl_law.txt", r"[一-龥]{2,9}(?:罪|条例|办法|规定|法)"),
    "finance_word": ("thuocl_caijing.txt", r"[一-龥]{3,5}"),
    "car_word": ("thuocl_car.txt", r"[一-龥]{3,5}"),
    "animal": ("thuocl_animal.txt", r"[一-龥]{2,4}(?:犬|猫|羊|牛|鱼|鸟|鹰|猴|熊)"),
    "idiom": ("thuocl_chengyu.txt", r"[一-龥]{4}"),
}


class Pools:
    """Ready values by pool name, for one language; every pool is built when first asked for."""

    def __init__(self, language: str, *, seed: int, lexicons: Path | None = None) -> None:
        self._language = language
        self._seed = seed
        self._lexicons = lexicons if language == "zh" else None
        self._cache: dict[str, Sequence[str] | None] = {}

    def get(self, name: str) -> Sequence[str] | None:
        """Return the values of a pool, or None where there is no such pool."""
        if name not in self._cache:
            self._cache[name] = self._build(name)
        return self._cache[name]

    def _build(self, name: str) -> Sequence[str] | None:
        if name in _FAKER_METHODS:
            return self._build_faker(name)
        if name == "division_lex":
            return self._build_divisions()
        if name.endswith("_lex"):
            return self._build_lexicon(name.removesuffix("_lex"))
        return None

    def _build_faker(self, name: str) -> Sequence[str]:
        faker = Faker(_LOCALES[self._language])
        faker.seed_instance(f"{self._seed}/{name}")
        method = _FAKER_METHODS[name]
        size = MAX_FAKER_NAMES if name.endswith(("person", "name")) else MAX_FAKER_VALUES
        values = (method(faker) for _ in range(size))
        return tuple(dict.fromkeys(_TITLES.sub("", _TITLES.sub("", value)) for value in values))

    def _build_lexicon(self, rule: str) -> Sequence[str] | None:
        spec = LEXICON_RULES.get(rule)
        path = self._lexicons / spec[0] if self._lexicons and spec else None
        if path is None or spec is None or not path.is_file():
            return None
        wanted = re.compile(spec[1])
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        words = dict.fromkeys(line.split("\t")[0].strip() for line in lines)
        return self._sample([word for word in words if wanted.fullmatch(word)], rule)

    def _build_divisions(self) -> Sequence[str] | None:
        path = self._lexicons / "divisions_pca.json" if self._lexicons else None
        if path is None or not path.is_file():
            return None
        provinces: dict[str, dict[str, list[str]]] = json.loads(path.read_text(encoding="utf-8"))
        names = [
            province + ("" if city in ("市辖区", "县") else city) + district
            for province, cities in provinces.items()
            for city, districts in cities.items()
            for district in districts
        ]
        return self._sample(names, "division")

    def _sample(self, words: list[str], rule: str) -> Sequence[str] | None:
        # The lists start with the most frequent words, which name no single thing ("市", "汽车"), but are also the best
        # known, so all are kept and only the size is capped.
        if len(words) > MAX_LEXICON_WORDS:
            words = Random(f"{self._seed}/{rule}").sample(words, MAX_LEXICON_WORDS)
        return tuple(words) or None
