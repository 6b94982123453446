"""What keeping promises costs and what it changes: the same programs through two versions of samesame, side by side.

    git worktree add ../before <commit>
    python benchmarks/before_after.py ../before                       # every table, an hour on one core
    python benchmarks/before_after.py ../before pairs kernels         # some of them
    python benchmarks/before_after.py ../before pairs --every 4       # every fourth case

`pairs` is the corpus of tests/pairs with its twins, `kernels` and `jobs` are ours (tests/kernels, tests/jobs) and what
people wrote from the documentation alone (tests/promises/corpus), as are all of `sizes`, `weights`, `state`, `hiding`,
`rounding` and `formulas`. Each version runs in a process of its own,
which is given one case after the other, in turn with the other version's; the programs are those of this checkout. Time
is the process's own CPU time, which a busy machine changes little; of pairs, the smaller of two runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
WRITTEN = TESTS / "promises" / "corpus"
CLASSES = ("sizes", "weights", "state", "hiding", "rounding", "formulas")
TABLES = ("pairs", "kernels", "jobs", *CLASSES)
LIMIT = 60.0
Answer = dict[str, Any]


# ------------------------------------------------------------------------------------------------ one version's process


def work() -> None:
    """Answer a case, a JSON line, with what is said of it and how long that took, until stdin ends."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        table, name = json.loads(line)
        started = time.process_time()
        said, false = ASKED[table](name)
        answer = {"said": said, "false": false, "seconds": time.process_time() - started}
        print(json.dumps(answer), file=results, flush=True)


def ask_pair(name: str) -> tuple[str, str]:
    """A pair of the corpus, equal, or one of its twins, different."""
    from pairs.corpus import PAIRS
    from samesame import check

    title, _, twin = name.partition(" / ")
    pair = next(pair for pair in PAIRS if pair.name == title)
    right = next(t for t in pair.twins if t.name == twin).right if twin else pair.right
    verdict = check(pair.left, right, pair.inputs)
    false = "different" if twin == "" else "same"
    return worded(verdict), f"false {false}" if verdict.verdict == false else ""


def worded(verdict: Any) -> str:
    return f"same, {verdict.evidence}" if verdict.verdict == "same" else verdict.verdict


def ask_written(name: str) -> tuple[str, str]:
    """A pair of promises' corpus, held to its truth."""
    import torch

    from samesame import check
    from samesame.evidence import Rung, SamesameError

    group, title = name.split("/")
    case = next(c for c in cases(group) if c.name == title)
    torch.manual_seed(0)
    try:
        verdict = check(case.left(), case.right(), case.inputs(), timeout=LIMIT, **case.options)
    except SamesameError:
        return "refused", ""
    except TypeError as error:
        if "unexpected keyword" in str(error):                    # an option that came later
            return "refused", ""
        raise
    covers = getattr(verdict, "covers", lambda inputs: verdict.evidence is Rung.PROVED)
    beyond = case.elsewhere is not None and verdict.verdict == "same" and covers(case.elsewhere())
    if verdict.verdict == "same" and (case.truth in ("different", "hides") or beyond):
        return worded(verdict), "false same"
    return worded(verdict), "false different" if verdict.verdict == "different" and case.truth == "same" else ""


def ask_command(name: str) -> tuple[str, str]:
    """A launch or a job on the command line: what its exit code says, held to the file's own TRUTH if it has one."""
    from typer.testing import CliRunner

    from samesame.cli import app

    file, text = ROOT / name, (ROOT / name).read_text()
    reference = ["--against", f"{file}:reference"] if re.search(r"^(def )?reference\b", text, re.M) else []
    kernel = file.parent.name == "kernels"
    command = ["lift", f"{file}:launch", *reference] if kernel else ["refine", str(file), "--timeout", str(LIMIT)]
    code = CliRunner().invoke(app, [*command, "--quiet"]).exit_code
    words = *(("verified", "violated") if kernel else ("refines", "does not refine")), "refused", "undecided"
    truth = re.search(r'^TRUTH = "(.*)"', text, re.M)
    holds = truth is None or truth[1] in ("verified", "refines")
    return words[code], f"false {words[code]}" if code == (1 if holds else 0) else ""


def cases(group: str) -> list[Any]:
    return importlib.import_module(f"promises.corpus.{group}").CASES


ASKED = {"pairs": ask_pair, "kernels": ask_command, "jobs": ask_command, **dict.fromkeys(CLASSES, ask_written)}


# ------------------------------------------------------------------------------------------------------- both, in turn


class Version:
    """One version of samesame, in a process of its own: a new one where a program ended it."""

    def __init__(self, checkout: Path) -> None:
        path = os.pathsep.join(map(str, (checkout / "src", TESTS, ROOT)))
        self.environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "SAMESAME_STORE": os.devnull}
        self.process = self.started()

    def started(self) -> subprocess.Popen[str]:
        command, pipe = [sys.executable, __file__, "--work"], subprocess.PIPE
        return subprocess.Popen(
            command, env=self.environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, table: str, name: str) -> Answer:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps((table, name)), file=self.process.stdin, flush=True)
        if line := self.process.stdout.readline():
            return json.loads(line)
        self.process = self.started()
        return {"said": "its process ended", "false": "", "seconds": 0.0}


def names(table: str) -> Iterator[str]:
    sys.path[:0] = [str(TESTS), str(ROOT)]
    if table == "pairs":
        from pairs.corpus import PAIRS

        for pair in PAIRS:
            yield pair.name
            yield from (f"{pair.name} / {twin.name}" for twin in pair.twins)
    elif table in CLASSES:
        yield from (f"{table}/{case.name}" for case in cases(table))
    else:
        for folder in (TESTS / table, WRITTEN / table):
            yield from (str(file.relative_to(ROOT)) for file in sorted(folder.glob("*.py")))


def compare(table: str, before: Version, now: Version, every: int = 1) -> None:
    """Print what both versions say of a table's cases, or of every so-many-eth, where they differ, and the ratio of
    their times."""
    said: dict[str, tuple[Answer, Answer]] = {}
    for name in islice(names(table), 0, None, every):
        rounds = [(before.ask(table, name), now.ask(table, name)) for _ in range(2 if table == "pairs" else 1)]
        old, new = (min(answers, key=lambda a: a["seconds"]) for answers in zip(*rounds, strict=True))
        said[name] = old, new
    counts = [Counter(pair[side]["said"] for pair in said.values()) for side in (0, 1)]
    false = [Counter(pair[side]["false"] for pair in said.values() if pair[side]["false"]) for side in (0, 1)]
    ratios = [new["seconds"] / old["seconds"] for old, new in said.values() if old["seconds"] and new["seconds"]]
    print(f"\n## {table}: {len(said)} cases\n\n| said | before | now |\n|---|---|---|")
    for word in sorted(counts[0] | counts[1]):
        print(f"| {word} | {counts[0][word]} | {counts[1][word]} |")
    for word in sorted(false[0] | false[1]):
        print(f"| **{word}** | {false[0][word]} | {false[1][word]} |")
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    totals = [sum(pair[side]["seconds"] for pair in said.values()) for side in (0, 1)]
    print(f"\ntime now / before: median {quartiles[1]:.2f}, quartiles {quartiles[0]:.2f} and {quartiles[2]:.2f}; "
          f"sums {totals[0]:.0f} s and {totals[1]:.0f} s")
    for name, (old, new) in said.items():
        if old["said"] != new["said"] or new["false"]:
            print(f"* {name}: {old['said']}{marked(old)} → {new['said']}{marked(new)}")


def marked(answer: Answer) -> str:
    return f" ({answer['false']})" if answer["false"] else ""


def main() -> None:
    if sys.argv[1:] == ["--work"]:
        work()
        return
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("before", type=Path, help="the checkout of the version to compare with, such as ../before")
    words.add_argument("tables", nargs="*", metavar="table", help=f"some of {', '.join(TABLES)}")
    words.add_argument("--every", type=int, default=1, help="take every so-many-eth case")
    asked = words.parse_args()
    if not (asked.before / "src" / "samesame").is_dir():
        words.error(f"{asked.before} is no checkout of samesame")
    if unknown := set(asked.tables) - set(TABLES):
        words.error(f"there is no table {min(unknown)}; give some of {', '.join(TABLES)}")
    before, now = Version(asked.before.resolve()), Version(ROOT)
    for table in asked.tables or TABLES:
        compare(table, before, now, asked.every)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
