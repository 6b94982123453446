"""The plugin: failures are reports, pins are kept beside the tests and must not get weaker, and nothing is loaded for
people who do not use it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import pytest

import verdicts
from samesame.fuzz import single
from samesame.fuzz.single import OwnResult
from samesame.pytest.pins import FILE, Pin, read, weaker, write
from samesame.pytest.plugin import PAGES, WRITTEN, Assertions
from samesame.testing import NotShown

pytest_plugins = ["pytester"]
KERNEL = f"{Path(__file__).parent / 'kernels' / 'vector_add.py'}:launch"
# Modules are loaded already, whose asserts pytest would rewrite, and it would warn of that.
PLUGIN = ("-p", "no:samesame", "-p", "samesame.pytest.plugin", "--assert=plain")

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

    from samesame import assert_same
    from samesame.report.html.check import check_html

    x = (torch.linspace(-1, 1, 6).reshape(2, 3),)
    check_html(assert_same(lambda x: x + x, lambda x: x * 2, x, picture=True))
    with pytest.raises(AssertionError):
        assert_same(lambda x: x + x, lambda x: x * 3, x)
    return x


@pytest.fixture(scope="module")
def loaded_for_jobs_and_kernels(loaded):
    import samesame.lift
    from samesame import assert_refines
    from samesame.report.html.lift import lift_html
    from samesame.report.html.refine import refine_html

    x = loaded
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
def test_pages_are_written_of_jobs_and_kernels_too_whether_they_hold_or_not(
    loaded_for_jobs_and_kernels, run, pytester
):
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
    titles = sorted(re.search("<title>(.*?)</title>", page.read_text())[1].partition(":")[0]
                    for page in (pytester.path / "pages").iterdir())
    assert titles == ["does not refine", "refines", "verified", "violated"]


@pytest.fixture
def assertions(tmp_path):
    """The fixture of a test of this id, whose pages lie in a folder, with assertions that cost nothing."""
    config = SimpleNamespace(stash=pytest.Stash(), getoption=lambda name: False)
    config.stash[PAGES], config.stash[WRITTEN] = tmp_path, Counter()

    def made(node):
        path = tmp_path / node.partition("::")[0]
        return Assertions(SimpleNamespace(config=config, nodeid=node, path=path, iter_markers=lambda name: []), None)

    return made


def test_each_assertion_has_a_page_of_its_own(assertions, tmp_path):
    verdict = verdicts.same()
    long = "x" * 300
    nodes = ["a/test_x.py::test_f", "b/test_x.py::test_f", "test_x.py::test_f[a/b]", "test_x.py::test_f[a_b]",
             "test_x.py::test_f[a b]", "test_x.py::Test::test_f", f"test_x.py::{long}[1]", f"test_x.py::{long}[2]"]
    for node in nodes:
        held = assertions(node)
        for _ in range(2):
            held._held(lambda: verdict, (), {})
    assertions(nodes[0])._held(lambda: verdict, (), {})               # the test runs once more
    assert len({page.name.lower() for page in tmp_path.iterdir()}) == 2 * len(nodes) + 1


def test_a_page_that_cannot_be_written_hides_no_failure(assertions, tmp_path):
    held = assertions("test_x.py::test_f")
    held.pages = tmp_path / "gone"

    def fails():
        raise NotShown("the two programs differ", verdicts.different())

    with pytest.raises(NotShown, match="the two programs differ") as failed:
        held._held(fails, (), {})
    assert "no page test_x.py_test_f" in failed.value.__notes__[0]
    with pytest.warns(pytest.PytestWarning, match="no page"):
        held._held(verdicts.same, (), {})


@pytest.mark.parametrize("found", [
    OwnResult("compiled rightly", "", 3, (), 0, 1.0, target="f", backend="inductor"),
    OwnResult("not compiled rightly", "wrong value", 0, (), 0, 1.0, target="f", backend="inductor"),
])
def test_what_is_compiled_has_a_page_too(assertions, tmp_path, monkeypatch, found):
    monkeypatch.setattr(single, "compiles", lambda *given: found)
    with suppress(NotShown):
        assertions("test_x.py::test_f").assert_compiles(None, ())
    (page,) = tmp_path.iterdir()
    assert f"<title>{found.verdict}: f</title>" in page.read_text()


def test_a_folder_for_pages_that_is_none_is_refused_at_the_start(pytester):
    pytester.makepyfile("def test_plain(): pass")
    taken = pytester.path / "report.html"
    taken.write_text("mine")
    for named in (taken, taken / "below"):
        result = pytester.runpytest(*PLUGIN, "--samesame-html", named)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert result.errlines[0] == f"ERROR: --samesame-html {named}: a file is in the way; give a folder for pages"
    assert taken.read_text() == "mine"
    assert "nothing can be written there" in str(pytester.runpytest(*PLUGIN, "--samesame-html", "/proc/x").stderr)


def test_a_failure_says_that_its_page_is_missing(run):
    said, counts = run("""
    def test_port(samesame):
        samesame.pages.rmdir()
        samesame.assert_same(left, other, X)
    """, "--samesame-html", "pages")
    assert counts == {"failed": 1} and "the two programs differ" in said and "no page " in said


def test_a_test_that_goes_elsewhere_leaves_its_pages_where_they_were_asked_for(run, pytester):
    said, counts = run("""
    def test_port(samesame, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        samesame.assert_same(left, right, X)
    """, "--samesame-html", "pages")
    assert counts == {"passed": 1}, said
    assert len(list((pytester.path / "pages").iterdir())) == 1


def test_what_is_refused_is_a_sentence_at_the_users_line(run, request):
    said, counts = run("""
    def asks(x):
        return x if x.sum().item() > 0 else x * 2

    def test_refused(samesame):
        samesame.assert_same(left, asks, X)

    def test_unknown(samesame):
        samesame.assert_same(left, left, X, at_least="sure")
    """)
    file = f"{request.node.name}.py"
    failures = said.partition("= FAILURES =")[2].partition("= short test summary")[0]
    told = [line for line in failures.splitlines() if line and not line.startswith(("_", "="))]
    assert counts == {"failed": 2} and len(told) == 4, said
    assert told[0].startswith(file) and told[1].startswith(file) and "calls .item() on a tensor" in told[1]
    assert told[2].startswith(file) and told[3].startswith("at_least is 'sure'; give one of")


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


@pytest.mark.parametrize("pin, why", [
    ({"verdict": "same", "evidence": "sure"}, "test has the evidence 'sure'"),
    ({"verdict": "same", "evidence": ["tested"]}, "holds no pins"),
    ({"verdict": "same", "bounds": {"B": ["x", None]}}, "test has the bounds ['x', None] of B"),
    ({"verdict": "same", "bounds": {"B": [1]}}, "test has the bounds [1] of B"),
    ({"verdict": "same", "bounds": {"B": 1}}, "holds no pins"),
    ({"verdict": "same", "bounds": [1]}, "holds no pins"),
    ({"verdict": 1}, "no text"),
    ({"verdict": "same", "conditions": "T > 4"}, "no text"),
    ({"verdict": "same", "conditions": [1]}, "no text"),
    ("same", "holds no pins"),
])
def test_a_damaged_file_of_pins_is_a_sentence(tmp_path, pin, why):
    (tmp_path / FILE).write_text(json.dumps({"test": pin}))
    with pytest.raises(ValueError, match=f"holds no pins .*{re.escape('' if why == 'holds no pins' else why)}"):
        read(tmp_path)


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
