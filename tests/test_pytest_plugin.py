"""The plugin: failures are reports, pins are kept beside the tests and must not get weaker, and nothing is loaded for
people who do not use it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from samesame.pytest.pins import FILE, Pin, read, weaker, write

pytest_plugins = ["pytester"]
KERNEL = f"{Path(__file__).parent / 'kernels' / 'vector_add.py'}:launch"
PLUGIN = ("-p", "no:samesame", "-p", "samesame.pytest.plugin")

PROGRAMS = """
    import pytest, torch

    def left(x):
        return (x + x) * 0.5

    def right(x):
        return x * 1.0

    def other(x):
        return x * 1.5

    X = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""


@pytest.fixture(scope="module")
def loaded():
    """All that the inner runs need is loaded before: pytester forgets what they load, and torch cannot be loaded
    twice."""
    import torch

    import samesame.lift
    from samesame import assert_refines, assert_same
    from samesame.report.html.check import check_html
    from samesame.report.html.lift import lift_html
    from samesame.report.html.refine import refine_html

    x = (torch.linspace(-1, 1, 6).reshape(2, 3),)
    check_html(assert_same(lambda x: x + x, lambda x: x * 2, x, picture=True))
    with pytest.raises(AssertionError):
        assert_same(lambda x: x + x, lambda x: x * 3, x)
    refine_html(assert_refines(lambda x: x, lambda rank, world_size: lambda x: x, x, world_size=2))
    lift_html(samesame.lift.lift(KERNEL))


@pytest.fixture
def run(pytester, loaded):
    """Run one file of tests, with the plugin: what pytest printed, and its counts."""

    def run(tests, *options):
        pytester.makepyfile(PROGRAMS + tests)
        result = pytester.runpytest(*PLUGIN, *options)
        return "\n".join(result.outlines), result.parseoutcomes()

    return run


def test_a_failure_is_its_place_and_the_report(run, pytester, request):
    said, counts = run("""
    def test_port(samesame):
        samesame.assert_same(left, other, X)
    """)
    assert counts == {"failed": 1}
    (line,) = [number for number, text in enumerate(pytester.path.joinpath(f"{request.node.name}.py").read_text()
                                                    .splitlines(), 1) if "samesame.assert_same" in text]
    assert f"{request.node.name}.py:{line}\nthe two programs differ\n\ndifferent   output 0" in said
    assert "def assert_same" not in said and "they agree again if" in said.lower()


def test_markers_give_options_and_what_one_test_proves_is_kept_for_others(run, pytester):
    said, counts = run("""
    @pytest.mark.samesame(seed=7, at_least="proved for all sizes")
    def test_port(samesame):
        assert samesame.assert_same(left, right, X).seed == 7
        assert samesame.assert_same(left, right, X, seed=8).seed == 8
    """, "--strict-markers", "--samesame-html", "pages")
    assert counts == {"passed": 1}, said
    assert (pytester.path / ".pytest_cache/d/samesame/rules.sqlite").exists()
    assert len(list((pytester.path / "pages").glob("*test_port*.html"))) == 2


def test_without_pytests_cache_rules_are_kept_for_the_run_only(run, pytester):
    said, counts = run("""
    def test_port(samesame):
        assert samesame.store is not None
        samesame.assert_same(left, right, X)
    """, "-p", "no:cacheprovider")
    assert counts == {"passed": 1}, said
    assert not (pytester.path / ".pytest_cache").exists()


@pytest.mark.long
def test_pages_are_written_of_jobs_and_kernels_too_whether_they_hold_or_not(run, pytester):
    _, counts = run(f"""
    def test_holds(samesame):
        samesame.assert_refines(left, lambda rank, world_size: left, X, world_size=2)

    def test_fails(samesame):
        samesame.assert_refines(left, lambda rank, world_size: other, X, world_size=2)

    def test_kernel(samesame):
        samesame.assert_lifts({KERNEL!r})

    def test_wrong_kernel(samesame):
        samesame.assert_lifts({KERNEL!r}, lambda x, y: x - y)
    """, "--samesame-html", "pages")
    assert counts == {"passed": 2, "failed": 2}
    titles = [re.search("<title>(.*?)</title>", page.read_text())[1].partition(":")[0]
              for page in sorted((pytester.path / "pages").iterdir())]
    assert titles == ["does not refine", "refines", "verified", "violated"]


PINNED = """
    @pytest.mark.samesame(pinned=True)
    def test_port(samesame):
        samesame.assert_same(left, right, X)
"""


def test_what_is_pinned_must_not_get_weaker(run, pytester):
    said, counts = run(PINNED)
    assert counts == {"failed": 1} and "nothing is pinned for" in said and "run pytest --samesame-update" in said
    assert run(PINNED, "--samesame-update")[1] == {"passed": 1}
    (name, pinned), = json.loads((pytester.path / FILE).read_text()).items()
    assert name.endswith(".py::test_port")
    assert (pinned["verdict"], pinned["evidence"]) == ("same", "proved for all sizes")
    assert pinned["bounds"]["B"] == [2, None]
    (pytester.path / FILE).write_text(json.dumps({name: {**pinned, "bounds": {"B": [1, None]}}}))
    said, counts = run(PINNED)
    assert counts == {"failed": 1} and "it was proved for B ≥ 1, and is now only for B ≥ 2" in said
    (pytester.path / FILE).write_text("no pins")
    assert "holds no pins" in run(PINNED)[0]


FULL = Pin("same", "proved for all sizes", {"B": [2, 64]}, ["T % 2 = 0"])


@pytest.mark.parametrize("now, said", [
    (Pin("same", "tested"), "it was proved for all sizes, and is now only tested"),
    (Pin("different", "refuted"), "it was same, and is different"),
    (Pin("same", "proved for all sizes", {"B": [3, None]}, []), "is now only for B ≥ 3"),
    (Pin("same", "proved for all sizes", {"B": [2, 32]}, []), "is now only for 2 ≤ B ≤ 32"),
    (Pin("same", "proved for all sizes", {}, []), "B is no longer varied"),
    (Pin("same", "proved for all sizes", {"B": [2, 64]}, ["T > 4"]), "it now stands on more than before: T > 4"),
    (Pin("same", "proved for all sizes", {"B": [1, None]}, []), ""),
    (FULL, ""),
])
def test_less_than_what_is_pinned_is_named(now, said):
    assert (said in weaker(now, FULL)) if said else weaker(now, FULL) == ""


def test_stronger_evidence_passes_whatever_its_bounds():
    assert weaker(Pin("same", "proved for all sizes", {"B": [2, None]}, ["x"]), Pin("same", "tested")) == ""


def _pin(folder, number):
    for k in range(8):
        write(Path(folder), f"test_{number}_{k}", Pin("same", "tested"))


def test_many_workers_pin_into_one_file(tmp_path):
    context = get_context("fork")
    workers = [context.Process(target=_pin, args=(tmp_path, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(read(tmp_path)) == 32 and [path.name for path in tmp_path.iterdir()] == [FILE]


def test_the_plugin_loads_nothing_for_tests_that_do_not_ask(tmp_path):
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n"
        "    ours = {name for name in sys.modules if name.startswith('samesame')}\n"
        "    assert ours == {'samesame', 'samesame.pytest', 'samesame.pytest.plugin'}, ours\n"
        "    assert not {'torch', 'z3'} & set(sys.modules)\n")
    command = [sys.executable, "-m", "pytest", "-q", *PLUGIN, "-p", "no:hypothesispytest", "test_plain.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
