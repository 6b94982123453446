"""Tests keep what they learn in a store of their own, never in the user's, and hold no machine to a speed."""

import os

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory):
    os.environ["SAMESAME_STORE"] = str(tmp_path_factory.mktemp("store") / "rules.db")
