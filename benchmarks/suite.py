"""What a suite of 100 pairs costs: cold and warm, one and two jobs.

Twenty small programs (norms, gates, attention, rotations, losses), each against a rewrite, at five widths. Cold: an
empty store. Warm: once more, nothing changed. One changed: the same after a line was added to one of the files.

    python benchmarks/suite.py [PAIRS]
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = {
    "norm": ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)",
             "x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()"),
    "layer_norm": ("F.layer_norm(x, (WIDTH,))",
                   "(x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + 1e-5)"),
    "silu": ("F.silu(x) * x", "x * x * torch.sigmoid(x)"),
    "gelu": ("F.gelu(x, approximate='tanh')",
             "0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))"),
    "softmax": ("torch.softmax(x, -1)", "torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)"),
    "log_softmax": ("torch.log_softmax(x, -1)", "x - torch.logsumexp(x, -1, keepdim=True)"),
    "matmul": ("x @ W", "torch.einsum('bk,kn->bn', x, W)"),
    "linear": ("F.linear(x, W.T) + x", "x + x @ W"),
    "two_linears": ("(x @ W) @ W", "x @ (W @ W)"),
    "gate": ("torch.sigmoid(x @ W) * x", "x / (1 + torch.exp(-(x @ W)))"),
    "attention": ("F.scaled_dot_product_attention(x, x, x)",
                  "torch.softmax(x @ x.T / math.sqrt(WIDTH), -1) @ x"),
    "mean": ("x.mean(0)", "x.sum(0) / x.shape[0]"),
    "variance": ("x.var(-1, correction=0)", "x.pow(2).mean(-1) - x.mean(-1) ** 2"),
    "halves": ("torch.cat([-x[:, WIDTH // 2:], x[:, :WIDTH // 2]], -1)",
               "torch.cat([x[:, WIDTH // 2:] * -1, x.narrow(1, 0, WIDTH // 2)], 1)"),
    "outer": ("x[:, :, None] * x[:, None, :]", "torch.einsum('bi,bj->bij', x, x)"),
    "cumulative": ("x.cumsum(-1)", "x @ torch.ones(WIDTH, WIDTH).triu()"),
    "relu": ("torch.relu(x)", "torch.clamp(x, min=0)"),
    "masked": ("x.masked_fill(x < 0, 0)", "torch.where(x < 0, torch.zeros_like(x), x)"),
    "distance": ("(x[:, None] - x[None]).pow(2).sum(-1)",
                 "((x[:, None] - x[None]) * (x[:, None] - x[None])).sum(-1)"),
    "other": ("x * 1.0", "x * 1.5"),
}
FILE = """import math

import torch
import torch.nn.functional as F

WIDTH = {width}
W = torch.linspace(-1, 1, WIDTH * WIDTH).reshape(WIDTH, WIDTH).sin()


def left(x):
    return {left}


def right(x):
    return {right}


inputs = (torch.linspace(-1, 1, 3 * WIDTH).reshape(3, WIDTH).cos(),)
"""


def written(folder: Path, pairs: int) -> None:
    entries = []
    for number in range(pairs):
        name, (left, right) = list(PROGRAMS.items())[number % len(PROGRAMS)]
        file = f"{name}_{number}.py"
        (folder / file).write_text(FILE.format(width=4 + 2 * (number // len(PROGRAMS)), left=left, right=right))
        expect = "different" if name == "other" else "same"
        entries.append(f'[[check]]\nfile = "{file}"\nexpect = "{expect}"\n')
    (folder / "suite.toml").write_text("\n".join(entries))


def timed(folder: Path, jobs: int, store: str) -> tuple[float, str]:
    began = time.monotonic()
    command = [sys.executable, "-m", "samesame", "suite", "suite.toml", "-q", "-j", str(jobs), "--store", store]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return time.monotonic() - began, ran.stdout.strip() or ran.stderr.strip()


def main(pairs: int) -> None:
    print(f"{pairs} pairs, {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}\n")
    print("| jobs | cold | warm | one file changed |\n|---|---|---|---|")
    for jobs in 1, 2:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            written(folder, pairs)
            time.sleep(1)
            seconds = []
            for step in range(3):
                if step == 2:
                    with (folder / "norm_0.py").open("a") as file:
                        file.write("\n# changed\n")
                    time.sleep(1)
                spent, said = timed(folder, jobs, "rules.db")
                print(said, file=sys.stderr)
                seconds.append(spent)
            print(f"| {jobs} | {' | '.join(f'{spent:.1f} s' for spent in seconds)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
