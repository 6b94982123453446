"""Edits are tried until enough hold, as long as there is time, and nothing less plain once one does."""

import math
import time

import pytest

from samesame.diagnose.tried import Limits, tried


def holding(changes, limits, **settings):
    return [change for change, _ in tried(changes, limits, lambda n: n if n % 2 else None, **settings)]


@pytest.mark.parametrize("limits, found", [
    (Limits(2, math.inf), [1, 3]),
    (Limits(9, math.inf, tries=4), [1, 3]),
    (Limits(9, math.inf, time.monotonic() - 1), []),
    (Limits(9, -1.0), []),
    (Limits(9, math.inf, more=-1.0), [1]),
    (Limits(9, math.inf), [1, 3, 5, 7]),
])
def test_when_to_stop(limits, found):
    assert holding(range(8), limits) == found


def test_what_is_less_plain_than_one_that_holds_is_not_tried():
    asked = []
    changes = [(2, "a"), (3, "b"), (1, "c"), (2, "d")]
    assert [name for (_, name), _ in tried(changes, Limits(9, math.inf), lambda row: asked.append(row) or "yes",
                                           lambda row: row[0])] == ["a", "c"]
    assert asked == [(2, "a"), (1, "c")]
