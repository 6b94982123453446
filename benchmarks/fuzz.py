"""What `samesame fuzz` finds, and what it costs.

    python benchmarks/fuzz.py faults             # faults planted into Inductor, one at a time: found, blamed?
    python benchmarks/fuzz.py faults maximum select --minutes 20 --without algebra --no-twins
    python benchmarks/fuzz.py faults select --skip 200      # what an earlier run did not find in its 200 programs
    python benchmarks/fuzz.py faults --likely               # of these programs those that call what it is about
    python benchmarks/fuzz.py pace --minutes 5              # programs a minute, with a cold and then with a warm cache
    python benchmarks/fuzz.py lines --minutes 60            # the share of Inductor's lines reached; --no-feedback
    python benchmarks/fuzz.py twins --programs 3000         # how many programs have twins, and whether one is wrong
    python benchmarks/fuzz.py worth found/ other/           # what each part gave to campaigns that ran

A planted fault is found when a program is accused that the same torch without the fault compiles rightly. It is then
reduced, and torch's bisector is asked. Minutes are of processor time of the process that has the fault, from its start
to the accusation. With --likely the others are not judged: the number of programs is then the one at which a whole
hunt has found the fault at the latest, and the minutes say nothing.

`worth` reads campaigns' folders. A program hangs on its number and the seed alone, so that a campaign without a
generator makes the other generators' programs as they are; what it misses are the findings whose cases are all of that
one. That it would have had the time for more programs is not counted.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import sys
import time
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check import machine
from fuzz_faults import FAULTS, Fault, planted

from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.campaign import Progress, Settings, fuzz
from samesame.fuzz.corpus import FILE, read_campaign
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.judge import judge
from samesame.fuzz.program import Program, source
from samesame.fuzz.tasks import accuses
from samesame.fuzz.twins import twin_of
from samesame.fuzz.worker import Alone

REDUCING, BISECTING = 60.0, 240.0
PLAIN = {"avoid": [], "tried": {}, "traced": False}
HEAD = ("fault", "found", "programs", "generator", "stage", "CPU min", "blamed", "rightly")


def processor_seconds(worker: Alone) -> float:
    """What a worker and its forks have used."""
    process = worker.crew._hands[0].worker.process.pid
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def with_fault(fault: Fault, folder: Path, settings: Settings) -> Alone:
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(planted(fault, folder)), before)))
    try:
        worker = Alone(folder / "cache", settings.for_worker())
        worker.ask({"task": "script", "text": "", "error": ""})              # it begins now, with this path
        return worker
    finally:
        os.environ["PYTHONPATH"] = before


def hunted(
    fault: Fault, worker: Alone, clean: Alone, settings: Settings, options: argparse.Namespace
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The program that is accused of the fault, as a case; None where none is. And what is told of it: what is wrong,
    after how many programs, by which generator, at which stage."""
    names = list(settings.generators)
    for number in range(options.skip, options.programs):
        if processor_seconds(worker) > 60 * options.minutes:
            break
        generator = names[number % len(names)]
        if options.likely and not fault.met(made(settings, number)[0]):
            continue
        case = {"task": "probe", "number": number, "generator": generator, "backend": "inductor", **PLAIN}
        result = worker.ask(case)
        if accuses(result):
            again = {"task": "rejudge", "program": result["program"], "backend": "inductor"}
            if not accuses(clean.ask(again)):
                told = result.get("kind") or result["status"], f"{number + 1}", generator, result["stage"]
                return again, told
    return None, ("no", f"{number}", "", "")


def made(settings: Settings, number: int) -> tuple[Program, random.Random]:
    """The program of a number, and the dice that choose its twin."""
    dice, names = random.Random(f"{settings.seed}/{number}"), list(settings.generators)
    return GENERATORS[names[number % len(names)]](dice), dice


def faults(options: argparse.Namespace) -> None:
    settings = settings_of(options)
    print(machine(), f"\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    chosen = [fault for fault in FAULTS if not options.names or any(name in fault.name for name in options.names)]
    found = blamed = 0
    with TemporaryDirectory() as folder:
        clean = Alone(Path(folder) / "clean", settings.for_worker())
        for place, fault in enumerate(chosen):
            worker = with_fault(fault, Path(folder) / str(place), settings)
            case, told = hunted(fault, worker, clean, settings, options)
            minutes = processor_seconds(worker) / 60
            named = guilty(worker, case) if case else ""
            right = bool(fault.guilty) and fault.guilty in named
            found, blamed = found + (case is not None), blamed + right
            row = fault.name, *told, f"{minutes:.1f}", named, "yes" if right else "no"
            print(f"| {' | '.join(row)} |", flush=True)
            worker.close()
        clean.close()
    told = f"{found} of {len(chosen)} found within {options.minutes:g} minutes of processor time each"
    print(f"\n{told}; the guilty pass named for {blamed}")


def guilty(worker: Alone, case: dict[str, Any]) -> str:
    """Who is blamed for the program, once it is reduced."""
    small = worker.ask({**case, "task": "shrink", "budget": REDUCING})
    told = worker.ask({**case, "task": "bisect", "program": small.get("program", case["program"])}, BISECTING)
    parts = (told.get("guilty", {}).get(part) for part in ("backend", "subsystem", "place"))
    return " / ".join(filter(None, parts))


def settings_of(options: argparse.Namespace) -> Settings:
    names = [name for name in GENERATORS if name not in options.without]
    settings = Settings(generators=dict.fromkeys(names, 1.0), seed=options.seed, twins=not options.no_twins)
    settings.feedback, settings.minutes, settings.jobs = not options.no_feedback, options.minutes, options.jobs
    settings.backends = tuple(options.backends)
    if options.what == "faults":
        settings.feedback = False
    return settings


def pace(options: argparse.Namespace) -> None:
    """Programs a minute with an empty cache, and of the same programs where it holds what Inductor made of them."""
    settings = settings_of(options)
    settings.bisect = False
    print(machine(), f"\n\n| cache | programs a minute, {options.jobs} workers | what became of them |\n|---|---|---|")
    with TemporaryDirectory() as folder:
        cold, warm = Path(folder) / "cold", Path(folder) / "warm"
        settings.cases = paced("empty", cold, settings).cases
        settings.minutes = None
        warm.mkdir()
        (cold / ".cache").rename(warm / ".cache")
        paced("warm", warm, settings)


def paced(name: str, folder: Path, settings: Settings) -> Progress:
    """A campaign, and a line about it; the first quarter of its programs go by while the workers become warm."""
    marks: list[tuple[int, float]] = []
    progress = fuzz(folder, settings, told=lambda now: marks.append((now.cases, time.monotonic())))
    begun = next(mark for mark in marks if mark[0] >= progress.cases // 4)
    rate = 60 * (marks[-1][0] - begun[0]) / (marks[-1][1] - begun[1])
    print(f"| {name} | {rate:.0f} | {progress.line}; {dict(progress.statuses)} |", flush=True)
    return progress


def lines(options: argparse.Namespace) -> None:
    """The share of Inductor's lines that programs reach, minute by minute."""
    settings, seen = settings_of(options), Counter[int]()

    def told(progress: Progress) -> None:
        minute = int(progress.seconds // 60)
        if minute not in seen:
            shares = f"{100 * progress.reached:.1f} % | {100 * progress.entered:.1f} %"
            print(f"| {minute} | {progress.cases} | {shares} |", flush=True)
        seen[minute] += 1

    print(machine(), "\n\n| minute | programs | of all lines | of the lines of files entered |\n|---|---|---|---|")
    with TemporaryDirectory() as folder:
        print(fuzz(Path(folder) / "found", settings, told=told).line)


def twins(options: argparse.Namespace) -> None:
    """Twins in eager torch, as a campaign judges them; nothing is compiled."""
    statuses, rules = Counter[str](), Counter[str]()
    settings = settings_of(options)
    for number in range(options.programs):
        program, dice = made(settings, number)
        twin = twin_of(program, dice)
        if twin is None:
            statuses["no twin"] += 1
            continue
        judged = judge(program, BACKENDS["eager"], twin.program, twin.exact)
        statuses[judged.status] += 1
        rules.update(twin.rules if judged.status == "agrees" else ())
        if judged.status == "wrong twin":
            print(f"{number}: {judged.kind} {judged.where} {judged.detail} by {', '.join(twin.rules)}")
            print(source(program), source(twin.program), sep="\n")
    print(machine(), f"\n\n{options.programs} programs, seed {options.seed}: {dict(statuses)}")
    print(f"{len(rules)} rules led to twins that agree: {dict(rules.most_common())}")


def worth(options: argparse.Namespace) -> None:
    """What generators and twins gave to campaigns that ran: cases, findings, and findings that nothing else has."""
    head = "campaign", "part", "programs", "seconds", "findings", "not without it"
    print(machine(), f"\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for folder in map(Path, options.names):
        found = {finding.number: finding for finding in read_campaign(folder).findings}
        with closing(sqlite3.connect(folder / FILE)) as database:
            cases = database.execute("SELECT generator, seconds, finding, rewrites FROM cases").fetchall()
        makers = defaultdict(set)
        for generator, _, finding, _ in cases:
            makers[finding].add(generator)
        for name in sorted({generator for generator, *_ in cases}):
            mine = [seconds for generator, seconds, *_ in cases if generator == name]
            met = [finding for finding in found if name in makers[finding]]
            alone = [finding for finding in met if makers[finding] == {name}]
            print(f"| {folder.name} | `{name}` | {len(mine)} | {sum(mine):.0f} | {len(met)} | {len(alone)} |")
        twins = [seconds for _, seconds, _, rewrites in cases if rewrites]
        by_twin = [finding for finding in found.values() if finding.stage == "twin"]
        print(f"| {folder.name} | twins | {len(twins)} | {sum(twins):.0f} | {len(by_twin)} | {len(by_twin)} |")
        print(f"| {folder.name} | all | {len(cases)} | {sum(case[1] for case in cases):.0f} | {len(found)} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("faults", "pace", "lines", "twins", "worth"))
    parser.add_argument("names", nargs="*", help="parts of the names of faults; campaigns' folders")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--programs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="programs that an earlier run judged")
    parser.add_argument("--likely", action="store_true", help="judge only programs that call what the fault is about")
    parser.add_argument("--without", nargs="*", default=[], choices=list(GENERATORS))
    parser.add_argument("--backends", nargs="*", default=["inductor"], choices=list(BACKENDS))
    parser.add_argument("--no-twins", action="store_true")
    parser.add_argument("--no-feedback", action="store_true")
    options = parser.parse_args()
    {"faults": faults, "pace": pace, "lines": lines, "twins": twins, "worth": worth}[options.what](options)


if __name__ == "__main__":
    main()
