"""Does Inductor keep the program? The tiny models of onnx_models.py against the graphs that Inductor receives of them.

    python benchmarks/inductor_models.py [NAME …] [--seconds 90]

prints a table of models and verdicts. Each model takes a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from onnx_models import MODELS, build, compared


def row(name: str, seconds: float) -> str:
    """One line of the table."""
    from samesame.capture.inductor import received

    module, _, inputs = build(name)
    return f"| {name} | {compared(module, received(module), inputs, seconds, time.process_time)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(row(given.one, given.seconds), flush=True)
        return
    print("| model | operators | verdict | evidence | sizes that vary | seconds of a processor |")
    print("|---|---|---|---|---|---|")
    for name in given.names or MODELS:
        command = [sys.executable, __file__, "--one", name, "--seconds", str(given.seconds)]
        found = subprocess.run(command, capture_output=True, text=True)
        told = found.stderr.strip().splitlines()[-1:] or [""]
        print(found.stdout.strip() or f"| {name} | | failed | {told[0][:160]} | | |", flush=True)


if __name__ == "__main__":
    main()
