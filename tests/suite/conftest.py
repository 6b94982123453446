"""What an answer was read from includes each file of each library that is loaded: a process that collected the tests
has loaded ten thousand, of a gigabyte, which do not change while the tests run."""

from functools import cache

import pytest

from samesame.work import reads

of_library = cache(reads.digest.__wrapped__)


@pytest.fixture(autouse=True)
def files_of_libraries_stay_as_they_are(monkeypatch):
    """Their digests are taken once, before any process is forked that would take them anew."""
    digest = reads.digest

    def of_file(path):
        return of_library(path) if reads._installed(path) else digest(path)

    of_file.cache_clear = digest.cache_clear
    for _, file in reads._modules():
        of_file(file)
    monkeypatch.setattr(reads, "digest", of_file)
