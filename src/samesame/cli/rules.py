"""`samesame rules`: look at what has been learnt, prove it again, hand it to others, forget it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from samesame.cli.apart import Apart
from samesame.cli.options import argument, option
from samesame.cli.streams import INTERRUPTED, complain, reported, to_stdout
from samesame.evidence import SamesameError
from samesame.report.visible import visible
from samesame.store import Entry, Store, StoreError
from samesame.versions import versions

SHORT = 12                                  # digits of a key that are shown, and enough to name it
REFUSED = 1

Where = Annotated[str | None, option("--store", metavar="PATH", words="The store, instead of the user's own.")]
Key = Annotated[str, argument("KEY", "The first digits of a rule's key.")]
File = Annotated[str, argument("FILE", "JSON lines; compressed if named .gz.")]
Yes = Annotated[bool, option("--yes", "-y", words="Do not ask.")]
Stale = Annotated[bool, option("--stale", words="Only rules of other versions of samesame.")]

HELP = """Look at the rules that have been learnt, prove them again, hand them to others, forget them.

samesame rules list

samesame rules export rules.jsonl.gz && samesame rules import rules.jsonl.gz --store other.sqlite
"""
EPILOG = "Exit codes: 0 done, 1 a rule was refused, 2 usage or unusable input, 130 interrupted, or not confirmed."

app = typer.Typer(help=HELP, epilog=EPILOG, no_args_is_help=True)


@contextmanager
def rules_of(path: str | None) -> Iterator[Any]:
    """The store of rules in the file named, or else the user's own; None for `-`."""
    if path == "-":
        yield None
        return
    prover, semantics = versions()
    with Store.open_or_go_without(path, prover=prover, semantics=semantics, notice=complain) as store:
        yield store


def reprover() -> Callable[[Entry], Entry | str]:
    """Proves a rule again: the rule with its new evidence and the versions of now, or what is wrong with it as the end
    of a sentence."""
    from samesame.relate.prove import Prover
    from samesame.relate.rules import reproved

    return lambda entry: reproved(entry, Prover().prove)


def in_full(entry: Entry) -> str:
    """A rule as its author would write it."""
    from samesame.relate.rules import spoken

    return spoken(entry)


@contextmanager
def opened(path: str | None) -> Iterator[Store]:
    prover, semantics = versions()
    with reported(False):
        if path == "-":
            raise SamesameError("--store -: a store is a file; name one, or leave --store out for your own")
        with Store.open(path, prover=prover, semantics=semantics) as store:
            yield store


@app.command("list", cls=Apart, epilog=EPILOG)
def list_(store: Where = None) -> None:
    """One line for each rule: its key, what it stands on, and whether it is stale.

    samesame rules list --store rules.sqlite
    """
    with opened(store) as rules:
        found = rules.all()
        for entry in found:
            to_stdout(_line(entry))
        print(visible(f"{_counted(len(found))} in {rules.path}"), file=sys.stderr)


@app.command(cls=Apart, epilog=EPILOG)
def show(key: Key, store: Where = None) -> None:
    """A rule in full, with its evidence.

    samesame rules show 3f9a
    """
    with opened(store) as rules:
        for entry in _named(rules, key):
            to_stdout(_line(entry))
            to_stdout(in_full(entry))


@app.command(cls=Apart, epilog=EPILOG)
def verify(store: Where = None) -> None:
    """Prove every rule again. What cannot be proved is named and removed; exit code 1 if there is any.

    samesame rules verify
    """
    failed = 0
    with opened(store) as rules:
        prove, found = reprover(), rules.all()
        for number, entry in enumerate(found, 1):
            outcome = prove(entry)
            if isinstance(outcome, str):
                failed += 1
                to_stdout(f"rule {entry.key[:SHORT]} is removed: {outcome}")
                rules.remove([entry.key])
            elif not rules.put([outcome]):
                raise StoreError(f"{rules.path} could not be written; {_counted(number - 1)} were verified")
        rules.clear(stale_only=True)     # each of these was proved again under the versions of now, or removed
        to_stdout(f"{_counted(len(found) - failed)} proved again, {failed} removed")
    raise typer.Exit(REFUSED if failed else 0)


@app.command(cls=Apart, epilog=EPILOG)
def export(exported: File, store: Where = None) -> None:
    """Write all rules to a file.

    samesame rules export rules.jsonl.gz
    """
    with opened(store) as rules:
        to_stdout(f"{_counted(rules.export(exported))} written to {exported}")


@app.command("import", cls=Apart, epilog=EPILOG)
def import_(file: File, store: Where = None) -> None:
    """Take over rules from a file, each proved again first; exit code 1 if any is refused.

    samesame rules import rules.jsonl.gz --store other.sqlite
    """
    with opened(store) as rules:
        prove, proved = reprover(), list[Entry]()

        def fault(entry: Entry) -> str | None:
            outcome = prove(entry)
            if isinstance(outcome, str):
                return outcome
            proved.append(outcome)
            return None

        imported = rules.import_(Path(file), fault)
        rules.put(proved)                # with the evidence found here: what the file says of it is not believed
        for sentence in imported.refused:
            to_stdout(sentence)
        to_stdout(f"{_counted(imported.kept)} imported, {len(imported.refused)} refused")
    raise typer.Exit(REFUSED if imported.refused else 0)


@app.command(cls=Apart, epilog=EPILOG)
def clear(store: Where = None, stale: Stale = False, yes: Yes = False) -> None:
    """Forget all rules.

    samesame rules clear --stale --yes
    """
    with opened(store) as rules:
        if not yes and not typer.confirm(f"Forget the {'stale ' if stale else ''}rules in {rules.path}?"):
            complain("nothing is forgotten")
            raise typer.Exit(INTERRUPTED)
        to_stdout(f"{_counted(rules.clear(stale_only=stale))} forgotten")


def _named(store: Store, key: str) -> list[Entry]:
    """The rules whose key begins so: one, in one or more versions. Raises StoreError."""
    found = [entry for entry in store.all() if key and entry.key.startswith(key)]
    if not found:
        raise StoreError(f"no rule in {store.path} has a key that begins with {key!r}; `samesame rules list` shows all")
    if len({entry.key for entry in found}) > 1:
        raise StoreError(f"{len(found)} rules have keys that begin with {key!r}; give more digits")
    return found


def _line(entry: Entry) -> str:
    stale = f"stale, of {entry.prover} and {entry.semantics}" if entry.stale else ""
    words = (str(entry.evidence.get(part, "")) for part in ("rung", "method", "detail"))
    return "  ".join(part for part in (entry.key[:SHORT], *words, stale) if part)


def _counted(number: int) -> str:
    return f"{number} rule{'' if number == 1 else 's'}"
