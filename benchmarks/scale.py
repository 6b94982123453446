"""What `check` takes of large models: Transformers' eager attention against sdpa, random weights, each run in a process
of its own. Prints a table: parameters, size of the checkpoint, seconds of the clock and of the processor, the peak of
the memory that is the process's own and of all that is mapped, and where the time goes.

    python benchmarks/scale.py [--folder DIR] [NAME…]        # of: llama8, llama32, gpt2, llama1b

Widths and layers: llama8 and llama32 have the same width; gpt2 is GPT-2's 124M; llama1b has the shape of Llama 3.2 1B.
Checkpoints are written to the folder (5 GB for llama1b) and used again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LLAMA = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 2,
         "intermediate_size": 2048, "vocab_size": 8000, "tie_word_embeddings": True}
MODELS: dict[str, dict[str, Any]] = {
    "llama8": LLAMA | {"num_hidden_layers": 8},
    "llama32": LLAMA | {"num_hidden_layers": 32},
    "gpt2": {"model_type": "gpt2"},
    "llama1b": {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8,
                "intermediate_size": 8192, "vocab_size": 128256, "num_hidden_layers": 16, "head_dim": 64,
                "tie_word_embeddings": True},
}
STAGES = ("capture", "execute", "prove", "numeric")


def write(fields: dict[str, Any], folder: Path) -> None:
    """A checkpoint of this config with random weights, in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields))
    script = ("import sys; from samesame.capture.checkpoints.folders import build, config_of, transformers\n"
              "from pathlib import Path\n"
              "build(transformers(), config_of(Path(sys.argv[1]), {})).save_pretrained(sys.argv[1])")
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True, env=with_path())


def with_path() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "src")}


def run(folder: Path) -> dict[str, Any]:
    """One check by the command line, watched from outside."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    targets = [f"hf:{folder}?attn={way}" for way in ("eager", "sdpa")]
    check = [sys.executable, "-m", "samesame", "check"]
    command = [*check, *targets, "--store", "-", "--quiet", "--json", str(report)]
    before, started = os.times(), time.monotonic()
    process = subprocess.Popen(command, env=with_path(), stdout=subprocess.DEVNULL)
    peaks = {"RssAnon": 0, "VmRSS": 0}
    watch = threading.Thread(target=watched, args=(process, peaks))
    watch.start()
    code = process.wait()
    watch.join()
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    found = json.loads(report.read_text()) if report.exists() else {"verdict": f"exit code {code}"}
    return found | {"wall": time.monotonic() - started, "processor": spent, **peaks}


def watched(process: subprocess.Popen[bytes], peaks: dict[str, int]) -> None:
    """The largest memory of the process and its children, looked at a hundred times a second, in kB."""
    while process.poll() is None:
        for name, total in memory(process.pid).items():
            peaks[name] = max(peaks[name], total)
        time.sleep(0.01)


def memory(pid: int) -> dict[str, int]:
    """The largest of a process and its children: the parent of a run only waits."""
    found = {"RssAnon": 0, "VmRSS": 0}
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, children)):
            lines = Path(f"/proc/{each}/status").read_text().splitlines()
            told = dict(line.split(":", 1) for line in lines)
            found = {name: max(n, int(told[name].split()[0])) for name, n in found.items()}
    except (OSError, KeyError, ValueError):                # it has just ended
        pass
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(MODELS), metavar="NAME")
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "samesame-scale")
    given = parser.parse_args()
    stages = " | ".join(f"{stage} s" for stage in STAGES)
    print(f"| model | weights GB | verdict | wall s | processor s | own memory GB | with mapped files GB | {stages} |")
    print("|---" * (7 + len(STAGES)) + "|")
    for name in given.names:
        folder = given.folder / name
        if not list(folder.glob("*.safetensors")):
            write(MODELS[name], folder)
        size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        found = run(folder)
        spent = " | ".join(f"{found.get('timing', {}).get(stage, float('nan')):.1f}" for stage in STAGES)
        print(f"| {name} | {size / 1e9:.2f} | {found['verdict']} | {found['wall']:.0f} | {found['processor']:.0f} | "
              f"{found['RssAnon'] / 1e6:.2f} | {found['VmRSS'] / 1e6:.2f} | {spent} |", flush=True)


if __name__ == "__main__":
    main()
