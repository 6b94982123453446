"""The command line: results on stdout, progress and logs on stderr, and exit codes that claim no verdict by accident.

A verdict exits with 0 (same), 1 (different) or 3 (undecided). Everything else exits with 2 and says so in one sentence:
unusable input, no memory, and also a defect of samesame itself, whose traceback `--verbose` shows. What the user's own
program prints goes to stderr, so that stdout holds the result and nothing else; one that ends the process is survived
(`supervised.py`).

torch takes seconds to load, so what needs it is imported inside the commands, after their options have been read.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from samesame.evidence import Rung, SamesameError, Verdict
from samesame.fuzz_cli import EPILOG as FUZZ_EXITS
from samesame.fuzz_cli import fuzz_command
from samesame.graph import Graph
from samesame.interface import KINDS
from samesame.lift_cli import EPILOG as LIFT_EXITS
from samesame.lift_cli import lift_command
from samesame.refine_cli import EPILOG as REFINE_EXITS
from samesame.refine_cli import refine_command
from samesame.rules_cli import rules_commands
from samesame.supervised import supervised
from samesame.sweep_cli import EPILOG as SWEEP_EXITS
from samesame.sweep_cli import sweep_command

UNUSABLE, INTERRUPTED = 2, 130
EXITS = "Exit codes: 0 same, 1 different, 2 usage or unusable input, 3 undecided, 130 interrupted by Ctrl-C."
TARGET = "file.py:name, package.module:name, hf:DIR, vllm:DIR, or a saved graph (.json, .json.gz)"
PAIR = ("left", "right", "inputs")                # the names that a file of its own pair defines

app = typer.Typer(
    help="Proves whether two tensor programs compute the same thing.",
    epilog=EXITS,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class How(StrEnum):
    """How programs become graphs."""

    record = "record"
    export = "export"


class Weights(StrEnum):
    """For which weights two programs are to be the same."""

    as_given = "as-given"
    random = "random"


def argument(name: str, words: str) -> Any:
    return typer.Argument(metavar=name, show_default=False, help=words)


def option(*names: str, words: str, **settings: Any) -> Any:
    return typer.Option(*names, help=words, **settings)


Left = Annotated[str, argument("LEFT", f"The reference: {TARGET}. Alone: a .py file that defines {', '.join(PAIR)}.")]
Right = Annotated[str | None, argument("RIGHT", "The program to compare with it.")]
MORE = "More programs: every pair is compared, and which one stands alone is said."
More = Annotated[list[str] | None, argument("MORE", MORE)]
TINY = "Give each checkpoint a tiny twin with its config's flags and random weights; config.json is enough."
Tiny = Annotated[bool, option("--tiny", words=TINY)]
Program = Annotated[str, argument("TARGET", f"The program: {TARGET}.")]
GRAPHS = "The two graphs that were compared, saved by `samesame graph --save`, left and right."
Graphs = Annotated[tuple[str, str] | None, option("--graphs", metavar="LEFT RIGHT", words=GRAPHS)]
EXAMPLE = "Example inputs: a tuple, a dict, or a function that returns one."
Inputs = Annotated[str | None, option("--inputs", metavar="TARGET", words=EXAMPLE)]
HowOption = Annotated[How, option("--how", words="Capture by recording one run, or by torch.export.")]
WEIGHTS = "Compare for all weights; or as-given, where it hangs on weights that happen to hold equal numbers."
WeightsOption = Annotated[Weights, option("--weights", words=WEIGHTS)]
IGNORE = f"Differences beside numbers to leave aside, separated by commas: {', '.join(KINDS)}."
Ignore = Annotated[str, option("--ignore", metavar="KINDS", show_default=False, words=IGNORE)]
Json = Annotated[str | None, option("--json", metavar="FILE", words="Write the verdict as JSON too; - for stdout.")]
Save = Annotated[str | None, option("--save", metavar="FILE", words="Save the graph here instead of showing it.")]
Seed = Annotated[int, option("--seed", min=0, words="Seed of the random draws; same seed, same result.")]
STORE = "Rules learnt before are read here, and new ones kept (default: in the user's cache; - for none)."
AFTER = "Stop after this long; what is then open is undecided."
Timeout = Annotated[float | None, option("--timeout", metavar="SECONDS", words=AFTER)]
StoreOption = Annotated[str | None, option("--store", metavar="PATH", words=STORE)]
CERTIFICATE = "Prove everything anew and write each step here, for `samesame replay`."
CertificateOption = Annotated[str | None, option("--certificate", metavar="FILE", words=CERTIFICATE)]
Quiet = Annotated[bool, option("--quiet", "-q", words="One line, and no progress.")]
Verbose = Annotated[bool, option("--verbose", "-v", words="Every relation; a traceback if samesame itself fails.")]


@app.command(epilog=EXITS)
def check(
    left: Left,
    right: Right = None,
    more: More = None,
    inputs: Inputs = None,
    json: Json = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    seed: Seed = 0,
    timeout: Timeout = None,
    store: StoreOption = None,
    certificate: CertificateOption = None,
    how: HowOption = How.record,
    ignore: Ignore = "",
    tiny: Tiny = False,
    weights: WeightsOption = Weights.random,
) -> None:
    """Do LEFT and RIGHT compute the same function?

    samesame check model.py:Separate model.py:Fused --inputs model.py:inputs

    samesame check pair.py

    samesame check hf:DIR?attn=eager hf:DIR?attn=sdpa vllm:DIR --tiny
    """
    if timeout is not None and not timeout > 0:
        raise typer.BadParameter("give a number of seconds above 0", param_hint="--timeout")
    with reported(verbose):
        from samesame.report import require_writable, write, write_certificate, write_several

        *targets, inputs = pair(left, right, inputs)
        if more and certificate is not None:
            raise SamesameError("a certificate is of two programs; give --certificate with two")
        for file in (json, certificate):
            if file not in (None, "-"):
                require_writable(Path(file))
        settings = {
            "seed": seed, "timeout": timeout, "how": how.value, "certify": certificate is not None,
            "weights": weights.value, "ignore": ignored_kinds(ignore),
        }
        verdicts, interrupted = decide([*targets, *(more or [])], inputs, settings, quiet=quiet, store=store, tiny=tiny)
        if more:
            from samesame.several import alone, exit_code

            show_several(verdicts, alone(verdicts), as_json=json == "-", quiet=quiet, verbose=verbose)
            if json not in (None, "-"):
                write_several(verdicts, alone(verdicts), Path(json))
            raise typer.Exit(INTERRUPTED if interrupted else exit_code(verdicts))
        verdict = verdicts[0]
        if certificate is not None and verdict.certificate is not None:
            write_certificate(verdict, Path(certificate))
        elif certificate is not None:
            complain(f"no certificate is written to {certificate}: only a verdict of same without restriction has one")
        show(verdict, as_json=json == "-", quiet=quiet, verbose=verbose)
        if json not in (None, "-"):
            write(verdict, Path(json))
    raise typer.Exit(INTERRUPTED if interrupted else verdict.exit_code)


@app.command()
def graph(
    target: Program,
    inputs: Inputs = None,
    save: Save = None,
    verbose: Verbose = False,
    how: HowOption = How.record,
) -> None:
    """Show or save the graph of a program.

    samesame graph model.py:Fused --inputs model.py:inputs --save fused.json.gz
    """
    with reported(verbose):
        from samesame.capture import save_graph, text_form
        from samesame.capture.files import tensor_file
        from samesame.report import require_writable

        if save is not None:
            require_writable(Path(save))
            require_writable(tensor_file(Path(save)))
        captured = captured_graph(target, inputs, how.value)
        if save is None:
            to_stdout(text_form(captured))
        else:
            save_graph(captured, save)


@app.command()
def replay(
    certificate: Annotated[str, argument("FILE", "A certificate that check --certificate wrote.")],
    graphs: Graphs = None,
    verbose: Verbose = False,
) -> None:
    """Check a certificate step by step, without searching.

    samesame check pair.py --certificate proof.json && samesame replay proof.json

    Exit codes: 0 it holds, 1 it does not, 2 usage or unusable input.
    """
    with reported(verbose):
        from samesame.replay import Broken, Unreadable, read
        from samesame.replay import replay as checked

        try:
            form = read(Path(certificate))
            given = (saved_graph(graphs[0]), saved_graph(graphs[1])) if graphs else None
            found, trusted = checked(form, given)
        except Unreadable as fault:
            raise SamesameError(f"{certificate}: {fault}; `samesame check --certificate FILE` writes one") from None
        except Broken as fault:
            to_stdout(f"does not hold   {fault}")
            raise typer.Exit(1) from None
        lines = ["holds", *(f"  checked   {line}" for line in found), *(f"  trusted   {line}" for line in trusted)]
        to_stdout("\n".join(lines))


def saved_graph(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A saved graph as `check` reads it, defaults filled in, and its tensors."""
    from samesame.capture import load_graph
    from samesame.graph_text import to_json
    from samesame.operators.defaults import with_defaults

    graph = with_defaults(load_graph(path))
    return to_json(graph), graph.tensors


def print_version(asked: bool) -> None:
    if asked:
        try:
            typer.echo(f"samesame {version('samesame')}")
        except PackageNotFoundError:
            typer.echo("samesame, run from its source without being installed")
        raise typer.Exit


Version = Annotated[bool, option("--version", is_eager=True, callback=print_version, words="Show the version.")]


@app.callback()
def options(show_version: Version = False) -> None:
    """Options before the command."""


# ------------------------------------------------------------------------------------------------- what the commands do


def ignored_kinds(text: str) -> tuple[str, ...]:
    """The kinds of differences that --ignore names."""
    kinds = tuple(kind.strip() for kind in text.split(",") if kind.strip())
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise SamesameError(f"--ignore {unknown[0]}: there is no such kind of difference; give {', '.join(KINDS)}")
    return kinds


def pair(left: str, right: str | None, inputs: str | None) -> tuple[str, str, str | None]:
    """The targets to check: as given, or the three names that one file defines."""
    if right is not None:
        return left, right, inputs
    if not left.endswith(".py"):
        raise SamesameError(
            f"{left} is one program: give a second one, or a file such as pair.py that defines {', '.join(PAIR)}"
        )
    first, second, example = (f"{left}:{name}" for name in PAIR)
    return first, second, inputs or example


def decide(
    targets: list[str],
    inputs: str | None,
    settings: dict[str, Any],
    *,
    quiet: bool,
    store: str | None,
    tiny: bool = False,
) -> tuple[list[Verdict], bool]:
    """Load the targets and check each pair, with progress on stderr: the verdicts, which name them as the user did, and
    whether Ctrl-C ended it. The time limit counts from here, where nothing of ours is left to load.

    Raises KeyboardInterrupt where Ctrl-C came before anything was established.
    """
    with redirect_stdout(sys.stderr):
        from samesame.budget import Run
        from samesame.capture import load_inputs, load_target
        from samesame.capture.targets import tiny_twins
        from samesame.check import check

        verdicts = [
            Verdict("undecided", Rung.UNDECIDED, seed=settings["seed"], left=left, right=right)
            for left, right in combinations(targets, 2)
        ]
        with progress_bar(quiet) as bar, rules_of(store) as rules, ExitStack() as folders:
            run = Run(settings["timeout"], *((bar.advance, bar.stage) if bar else ()))
            with run.bounded(interrupts=True):
                with run.during("load"):
                    own = folders.enter_context(tiny_twins(targets, settings["seed"])) if tiny else targets
                    programs = [load_target(target) for target in own]
                    example = load_inputs(inputs) if inputs else no_inputs(tuple(programs))
                for number, (mine, yours) in enumerate(combinations(programs, 2)):
                    found = check(mine, yours, example, **settings, run=run, store=rules)
                    found.left, found.right = verdicts[number].left, verdicts[number].right
                    verdicts[number] = found
    if run.interrupted and not any(v.relations or v.verdict != "undecided" for v in verdicts):
        raise KeyboardInterrupt
    for verdict in verdicts:
        verdict.notes = verdict.notes or run.notes()
    return verdicts, run.interrupted


@contextmanager
def rules_of(path: str | None) -> Iterator[Any]:
    """The store of rules in the file named, or else the user's own; None for `-`."""
    if path == "-":
        yield None
        return
    from samesame.store import Store

    prover, semantics = rule_versions()
    with Store.open_or_go_without(path, prover=prover, semantics=semantics, notice=complain) as store:
        yield store


def rule_versions() -> tuple[str, str]:
    from samesame.relate.rules import versions

    return versions()


def reprover() -> Callable[[Any], Any]:
    """Proves a rule of a store again."""
    from samesame.relate.prove import Prover
    from samesame.relate.rules import reproved

    return lambda entry: reproved(entry, Prover().prove)


def no_inputs(programs: tuple[Any, ...]) -> Any:
    """Saved graphs hold the inputs they were captured on, and models of checkpoints make some; anything else needs
    them."""
    own = [example for program in programs if (example := getattr(program, "example", None)) is not None]
    if own:
        return own[0]
    if not all(isinstance(program, Graph) for program in programs):
        raise SamesameError("no inputs to run both programs on: add --inputs TARGET, such as --inputs file.py:inputs")
    return ()


def captured_graph(target: str, inputs: str | None, how: str) -> Graph:
    """The graph saved in a file, or captured from a program on the inputs named, or else on its file's `inputs`."""
    with redirect_stdout(sys.stderr):
        from samesame.capture import capture, load_inputs, load_target

        program = load_target(target)
        if isinstance(program, Graph):
            return program
        example = inputs or f"{target.rpartition(':')[0]}:inputs"
        return capture(program, load_inputs(example), how=how, name=target)


def show(verdict: Verdict, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """The result, on stdout: JSON, one line, or the report."""
    from samesame.report import dumps, headline, print_report

    with stdout_guarded():
        if as_json:
            sys.stdout.write(dumps(verdict))
        elif quiet:
            print(headline(verdict).plain)
        else:
            print_report(verdict, verbose=verbose)


def show_several(verdicts: list[Verdict], answer: str, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """The result for several programs, on stdout: JSON, the answer alone, or that, each pair, and what differs."""
    from samesame.report import dumps_several, print_several

    with stdout_guarded():
        if as_json:
            sys.stdout.write(dumps_several(verdicts, answer))
        elif quiet:
            print(answer)
        else:
            print_several(verdicts, answer, verbose=verbose)


def to_stdout(text: str) -> None:
    with stdout_guarded():
        print(text)


# ------------------------------------------------------------------------------------------------- streams and failures


@contextmanager
def stdout_guarded() -> Iterator[None]:
    """Write to stdout and flush it. A reader that left (`| head`) is no failure; a full disk is."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())        # else Python fails once more at its exit
        if not isinstance(error, BrokenPipeError):
            raise SamesameError(f"cannot write to standard output: {error.strerror or error}") from None


class Bar:
    """What is being done, how much of it, for how long, and where in the user's program."""

    def __init__(self, bar: Any) -> None:
        self.bar, self.task = bar, bar.add_task("", total=None, doing="")

    def stage(self, name: str) -> None:
        self.bar.update(self.task, total=None, completed=0, description="", doing=name)

    def advance(self, done: int, total: int, place: str) -> None:
        doing = f"prove, operator {min(done + 1, total)} of {total}"
        self.bar.update(self.task, completed=done, total=total, description=place, doing=doing)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Bar | None]:
    """A bar on stderr, or None where nobody looks at one."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    doing, place = (TextColumn(f"{{task.{part}}}", markup=False) for part in ("fields[doing]", "description"))
    columns = doing, BarColumn(20), TimeElapsedColumn(), place
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Bar(bar)


@contextmanager
def reported(verbose: bool) -> Iterator[None]:
    """Turn every way to fail into one sentence on stderr and an exit code that is no verdict."""
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BaseException as error:
        if verbose and not isinstance(error, SamesameError):
            traceback.print_exc()
        complain(sentence(error, verbose))
        raise typer.Exit(UNUSABLE) from None


def sentence(error: BaseException, verbose: bool) -> str:
    """What went wrong and what to do about it."""
    if isinstance(error, SamesameError):
        return str(error)
    if out_of_memory(error):
        return "not enough memory: try fewer layers, smaller inputs, or a machine with more"
    if isinstance(error, SystemExit):
        return f"a program called sys.exit({error.code!r}) while it was loaded or run; move that under a __main__ guard"
    hint = "" if verbose else "; --verbose shows the traceback"
    lines = str(error).strip().splitlines() or ["no message"]
    return f"this is a defect of samesame, not a verdict: {type(error).__name__}: {lines[0]}{hint}"


def out_of_memory(error: BaseException) -> bool:
    """torch says it with its own errors: one for accelerators, a RuntimeError for a CPU."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"MemoryError", "OutOfMemoryError"}) or "can't allocate memory" in str(error)


def complain(message: str) -> None:
    print(f"samesame: {message}", file=sys.stderr)


def rule_in_words(entry: Any) -> str:
    from samesame.relate.rules import spoken

    return spoken(entry)


app.command(epilog=LIFT_EXITS)(lift_command(reported, to_stdout))
app.command(epilog=REFINE_EXITS)(refine_command(reported, progress_bar, rules_of, stdout_guarded))
app.command(epilog=FUZZ_EXITS)(fuzz_command(reported, stdout_guarded))
app.command(epilog=SWEEP_EXITS)(sweep_command(reported, progress_bar, stdout_guarded))
app.add_typer(rules_commands(rule_versions, reprover, reported, rule_in_words), name="rules")


def main() -> None:
    """Entry point of the command `samesame`."""
    for stream in sys.stdout, sys.stderr:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")                              # a terminal that cannot show ∞ or Σ
    sys.exit(supervised(lambda: app(prog_name="samesame"), UNUSABLE))


if __name__ == "__main__":
    main()
