"""The plugin itself: options, the marker, the fixture `samesame`, and failures that are the report alone.

    @pytest.mark.samesame(pinned=True, timeout=60)
    def test_port(samesame):
        samesame.assert_same(LlamaForCausalLM(config), FusedLlama(config), inputs)

The fixture's assertions are those of `samesame.testing`. What one test proves is kept as rules for the others, in
pytest's cache or where `--samesame-store` says; several workers (pytest-xdist) may share that. What is pinned must not
become weaker than it was when `--samesame-update` wrote it down.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from samesame.store import Store

MARKER = "samesame(pinned=False, **options): options of the assertions of this test; what is pinned must not get weaker"


PAGES = pytest.StashKey[Path]()                     # the folder that pages are written into
WRITTEN = pytest.StashKey[Counter[str]]()           # how many pages each test has in this run
READABLE = 80                                       # characters of a test's name in that of its page
OURS = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("samesame", "samesame: do two tensor programs compute the same?")
    group.addoption("--samesame-update", action="store_true", help="Pin the evidence that assertions stand on now.")
    group.addoption("--samesame-html", metavar="DIR",
                    help="Write the report of each assertion of the fixture as a page.")
    group.addoption("--samesame-store", metavar="PATH",
                    help="Where proved rules are kept for the next test; - for nowhere (default: in pytest's cache).")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    named = config.getoption("--samesame-html")
    if named is not None:
        config.stash[PAGES] = _folder_for_pages(Path(named).absolute())         # a test may go elsewhere
        config.stash[WRITTEN] = Counter()


def _folder_for_pages(folder: Path) -> Path:
    """The folder, which is there and can be written into. Raises UsageError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (FileExistsError, NotADirectoryError):
        raise pytest.UsageError(f"--samesame-html {folder}: a file is in the way; give a folder for pages") from None
    except OSError as error:
        raise pytest.UsageError(f"--samesame-html {folder}: nothing can be written there ({error.strerror})") from None
    return folder


@pytest.fixture(scope="session")
def samesame_store(pytestconfig: pytest.Config) -> Iterator[Store | None]:
    """The store of rules that all tests share; None where there is to be none."""
    named = pytestconfig.getoption("--samesame-store")
    if named == "-":
        yield None
        return
    from samesame.store import Store
    from samesame.versions import versions

    prover, semantics = versions()
    cache: pytest.Cache | None = getattr(pytestconfig, "cache", None)            # None: -p no:cacheprovider
    path = named or (cache and cache.mkdir("samesame") / "rules.sqlite")
    if path is None:
        yield Store.in_memory(prover=prover, semantics=semantics)
        return
    with Store.open_or_go_without(path, prover=prover, semantics=semantics) as store:
        yield store


@pytest.fixture
def samesame(request: pytest.FixtureRequest, samesame_store: Store | None) -> Assertions:
    """Assertions about programs, with the options of the test's marker."""
    return Assertions(request.node, samesame_store)


class Assertions:
    """`assert_same`, `assert_refines`, `assert_lifts` and `assert_compiles` for one test. Each takes `pinned` beside
    its own arguments."""

    def __init__(self, test: pytest.Item, store: Store | None) -> None:
        marks = reversed(list(test.iter_markers("samesame")))            # the nearest last: its word counts
        self.options: dict[str, Any] = {key: value for mark in marks for key, value in mark.kwargs.items()}
        self.test, self.store = test, store
        self.update = test.config.getoption("--samesame-update")
        self.pages = test.config.stash.get(PAGES, None)
        self.asserted = 0

    def assert_same(self, *values: Any, **options: Any) -> Any:
        """As `samesame.testing.assert_same`."""
        __tracebackhide__ = True
        from samesame.testing import assert_same

        return self._held(partial(assert_same, store=self.store, picture=self.pages is not None), values, options)

    def assert_refines(self, *values: Any, **options: Any) -> Any:
        """As `samesame.testing.assert_refines`."""
        __tracebackhide__ = True
        from samesame.testing import assert_refines

        return self._held(partial(assert_refines, store=self.store), values, options)

    def assert_lifts(self, *values: Any, **options: Any) -> Any:
        """As `samesame.testing.assert_lifts`."""
        __tracebackhide__ = True
        from samesame.testing import assert_lifts

        return self._held(assert_lifts, values, options)

    def assert_compiles(self, *values: Any, **options: Any) -> Any:
        """As `samesame.testing.assert_compiles`; nothing is pinned of it, for it is tested and never proved."""
        __tracebackhide__ = True
        from samesame.testing import assert_compiles

        return self._shown(assert_compiles, values, self._options(options)[1])

    def _held(self, assertion: Callable[..., Any], values: tuple[Any, ...], options: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        pinned, options = self._options(options)
        self.asserted += 1
        verdict = self._shown(assertion, values, options)
        if pinned:
            self._pin(verdict)
        return verdict

    def _shown(self, assertion: Callable[..., Any], values: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What the assertion returns, with its page, whether it holds or not."""
        __tracebackhide__ = True
        from samesame.testing import NotShown

        try:
            verdict = assertion(*values, **options)
        except NotShown as failure:
            if lost := self._write_page(failure.verdict):
                failure.add_note(lost)                                # the report of the failure comes first
            raise
        if lost := self._write_page(verdict):
            warnings.warn(lost, pytest.PytestWarning, stacklevel=4)
        return verdict

    @property
    def name(self) -> str:
        """The test, and which of its assertions where it has several."""
        number = f" [{self.asserted}]" if self.asserted > 1 else ""
        return f"{self.test.path.name}::{self.test.nodeid.partition('::')[2]}{number}"

    def _write_page(self, verdict: Any) -> str:
        """Write the report as a page, where pages are asked for; why there is none, or nothing."""
        if self.pages is None:
            return ""
        page = self.pages / self._page_name()
        try:
            _page_writer(verdict)(verdict, page)
        except Exception as error:                           # a page decides no test, whatever is the matter with it
            return f"no page {page.name} of {self.name}: {error}"
        return ""

    def _page_name(self) -> str:
        """A name that no other assertion of this run has: tests of one name lie in several folders, ids may differ in
        characters that files cannot have, and a test may run again."""
        whole, written = self.test.nodeid, self.test.config.stash[WRITTEN]
        written[whole] += 1
        readable = re.sub(r"[^A-Za-z0-9._-]+", "_", whole)[-READABLE:].strip("_")
        return f"{readable}-{hashlib.sha256(whole.encode()).hexdigest()[:10]}-{written[whole]}.html"

    def _options(self, options: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        given = {**self.options, **options}
        return bool(given.pop("pinned", False)), given

    def _pin(self, verdict: Any) -> None:
        """Compare with what is pinned for this assertion of the test, or pin it."""
        __tracebackhide__ = True
        from samesame.pytest import pins
        from samesame.testing import NotShown

        folder, name, now = self.test.path.parent, self.name, pins.pin_of(verdict)
        if self.update:
            pins.write(folder, name, now)
            return
        known = pins.read(folder)
        if name not in known:
            raise NotShown(f"nothing is pinned for {name} in {folder / pins.FILE}; run pytest --samesame-update")
        if lost := pins.weaker(now, known[name]):
            raise NotShown(f"weaker than what is pinned: {lost}\n(if that is meant: pytest --samesame-update)")


def _page_writer(verdict: Any) -> Callable[[Any, Path], None]:
    """What writes the page of such a verdict."""
    from samesame.evidence import Refinement
    from samesame.kernels.verdict import LiftVerdict

    if isinstance(verdict, Refinement):
        from samesame.report.html.refine import write_refine

        return write_refine
    if isinstance(verdict, LiftVerdict):
        from samesame.report.html.lift import write_lift

        return write_lift
    from samesame.evidence import Verdict

    if isinstance(verdict, Verdict):
        from samesame.report.html.check import write_check

        return write_check
    from samesame.fuzz.page import write_own

    return write_own


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure of ours is the place of the assertion and the report; the code between tells nobody anything who does
    not ask for it (--full-trace)."""
    report = yield
    testing, whole = sys.modules.get("samesame.testing"), item.config.getoption("fulltrace")
    if testing is None or call.excinfo is None or whole or not _is_ours(call.excinfo, testing):
        return report
    place = _last_of_theirs(call.excinfo)
    shown: Any = call.excinfo.getrepr(style="value", chain=False)
    lines = shown.reprtraceback.reprentries[-1].lines
    lines.insert(0, f"{_from_here(Path(str(place.path)))}:{place.lineno + 1}")
    lines += getattr(call.excinfo.value, "__notes__", [])
    report.longrepr = shown
    return report


def _is_ours(failed: pytest.ExceptionInfo[BaseException], testing: ModuleType) -> bool:
    """Does its text say all there is to say: no proof, a program that is refused, or an argument that the assertions or
    the pins refuse?"""
    from samesame.evidence import SamesameError

    if isinstance(failed.value, testing.NotShown | SamesameError):
        return True
    raised = Path(str(failed.traceback[-1].path))
    asserting = raised == Path(str(testing.__file__)) or raised.parent == Path(__file__).parent
    return asserting and isinstance(failed.value, ValueError | TypeError)


def _last_of_theirs(failed: pytest.ExceptionInfo[BaseException]) -> Any:
    """The line of the user's from which samesame was called, which may call programs of theirs in its turn."""
    calls = failed.traceback
    ours = next((at for at, call in enumerate(calls) if Path(str(call.path)).is_relative_to(OURS)), len(calls))
    return calls[max(0, ours - 1)]


def _from_here(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
