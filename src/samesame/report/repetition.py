"""Layers repeat, so reports read them as one.

A model of 32 layers relates the same tensors 32 times. A report says it once: `layers.i.qkv.weight = concat(…)`,
i = 0…31. Numbers stand between the dots of a path; each number of the right name becomes a letter by its place, and a
number in the left names takes that letter only if it is the same number at the same place. So a relation that crosses
layers (layer 0 with layer 1) keeps its numbers and stands out instead of vanishing into the pattern.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

LETTERS = "ijklmn"
PATH = re.compile(r"(?:\d+\.)*[A-Za-z_][\w.]*")     # not 0.5
NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|(?<![\w.])\d+(?=\.)")


@dataclass(frozen=True, slots=True)
class Repeated:
    """Texts that differ in their numbers only: the common `texts`, and the `range` of each letter in words."""

    texts: tuple[str, ...]
    range: str


def repeated(items: Iterable[tuple[str, ...]]) -> list[Repeated]:
    """Group tuples of paths (the first names the numbers), in order of first appearance."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for texts in items:
        numbers = tuple(NUMBER.findall(texts[0]))[: len(LETTERS)]
        pattern = tuple(_lettered(text, numbers) for text in texts)
        found[pattern].append(numbers)
    return [_group(pattern, members) for pattern, members in found.items()]


def inline(paths: Iterable[str]) -> dict[str, str]:
    """For each path, the path of its group with ranges in place: `layers.3.mlp` -> `layers.0…31.mlp`."""
    unique = list(dict.fromkeys(paths))
    named: dict[str, str] = {}
    for group in _by_pattern(unique).values():
        words = NUMBER.split(group[0])
        ranges = [_span(values) for values in zip(*map(NUMBER.findall, group), strict=True)]
        text = "".join(word + span for word, span in zip(words, [*ranges, ""], strict=True))
        named |= dict.fromkeys(group, text)
    return named


def _by_pattern(paths: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        groups[NUMBER.sub("#", path)].append(path)
    return groups


def _lettered(text: str, numbers: tuple[str, ...]) -> str:
    """`text` with a letter, in braces, for each number that equals the one at its place in `numbers`."""

    def path(match: re.Match[str]) -> str:
        places = iter(range(len(match[0])))

        def letter(number: re.Match[str]) -> str:
            place = next(places)
            same = place < len(numbers) and number[0] == numbers[place]
            return f"{{{LETTERS[place]}}}" if same else number[0]

        return NUMBER.sub(letter, match[0])

    return PATH.sub(path, text)


def _group(pattern: tuple[str, ...], members: list[tuple[str, ...]]) -> Repeated:
    """Write letters that take one value only as that value, and say which values the others take."""
    texts, ranges, sizes = list(pattern), [], []
    for letter, values in zip(LETTERS, zip(*members, strict=True), strict=False):
        several = len(set(values)) > 1
        texts = [text.replace(f"{{{letter}}}", letter if several else values[0]) for text in texts]
        if several:
            ranges.append(f"{letter} = {_span(values)}")
            sizes.append(len(set(values)))
    complete = prod(sizes) == len(members)
    return Repeated(tuple(texts), ", ".join(ranges) + ("" if complete else f" ({len(members)} of them)"))


def _span(values: Iterable[str]) -> str:
    """`0…31` for all numbers between two, else the list `0,2,4`."""
    numbers = sorted({int(value) for value in values})
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}…{numbers[-1]}"
    return ",".join(map(str, numbers))
