"""Tests keep what they learn in a store of their own, never in the user's."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory):
    os.environ["SAMESAME_STORE"] = str(tmp_path_factory.mktemp("store") / "rules.db")
