"""The tour: what samesame shows, face by face. `python docs/tour.py` runs every stop on the files of examples/, writes
docs/tour.md, and takes the pictures in docs/img/ with Chromium. `python docs/tour.py compiler kernel` runs again only the
stops with one of these words in their titles.

A stop is a command, a few words, and what is kept of its output: the first paragraph, and those that begin as `kept`
says. tests/test_tour.py runs all of them again and holds the page against what they print now.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WIDE, TALL = 1100, 1700
PLUGIN = ("-p", "no:samesame", "-p", "samesame.pytest.plugin", "-p", "no:cacheprovider")    # of this working tree


@dataclass(frozen=True)
class Stop:
    """A command, what stands before it, and what is kept of its output: of paragraphs those that begin so, of lines so
    many. `first` runs before it; `file` is a file that it needs, shown too; what a machine decides is not `steady`."""

    title: str
    words: str
    command: str
    kept: tuple[str, ...] = ()
    lines: int = 1000
    first: tuple[str, ...] = ()
    file: tuple[str, str] = ("", "")
    language: str = "text"
    needs: str = ""
    steady: bool = True
    code: int = 0
    picture: str = ""


OPENING = """# A tour

What samesame shows, one face after the other, on the files of `examples/`. The page is written by `python docs/tour.py` from
what the commands print; `…` stands for what is left out.
"""

TEST = """from norms import inputs, left, right


def test_port(samesame):
    samesame.assert_same(left, right, inputs())
"""

TWICE = """import jax.numpy as jnp
import torch


def rms_norm(x, weight):
    return x * weight / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def port(x, weight):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps=1e-6)


inputs = torch.randn(3, 8), torch.randn(8)
"""

STOPS = [
    Stop("Two programs that are the same",
         "Two linears, and one that holds the weights of both. The first line says what was proved, and for which sizes; below "
         "it stand how the weights of one side sit in those of the other, and how far each rounds.",
         "samesame check pair.py", ("sizes", "relations", "inputs and parameters", "rounding")),
    Stop("Two programs that are not",
         "A norm, and a port of it with another epsilon. The report says where they part, what that does to the outputs, and "
         "which edit rejoins them; the edit was made, and the result proved the same.",
         "samesame check norms.py", ("where they part", "effect", "what would mend it"), code=1),
    Stop("The same as a page",
         "`--html` writes one file, to be opened from disk or attached to an issue: both programs side by side, every relation "
         "a line between them. Where they part is open; a click on a line shows both formulas and the lines they stand on.",
         "samesame check norms.py --html report.html --quiet", code=1, picture="report.html"),
    Stop("A verdict in an issue or a pull request",
         "`--format github` prints it as Markdown, the whole report folded; `--junit` and `--sarif` write the same for CI, "
         "where it becomes an annotation on its line.",
         "samesame check norms.py --format github", lines=9, language="markdown", code=1),
    Stop("Which of several stands alone",
         "Every two of them are compared, and the table says which agree.",
         "samesame check norms.py:left norms.py:right norms.py:by_torch --inputs norms.py:inputs", lines=8, code=1),
    Stop("An export to ONNX",
         "`export_onnx.py` writes the module down twice. The file that was told that the batch varies is the module, for every "
         "batch.",
         "samesame check model.py:Model model.onnx --inputs model.py:inputs", ("sizes",), first=("python export_onnx.py",),
         needs="onnx"),
    Stop("An export that lost something",
         "The other file was not told that the batch varies. The numbers are the same, and the first line says what is gone.",
         "samesame check model.py:Model static.onnx --inputs model.py:inputs --quiet", first=("python export_onnx.py",),
         needs="onnx"),
    Stop("A port from JAX",
         "What JAX computes and what torch does, in one proof.",
         "samesame check jax:norm.py:rms_norm norm.py:port --inputs norm.py:inputs", ("sizes", "relations"),
         file=("norm.py", TWICE), needs="jax"),
    Stop("A distributed program",
         "Four ranks of tensor parallelism against the sequential block. No cluster: every rank is recorded in one process.",
         "samesame refine tensor_parallel.py --world-size 4", ("outputs", "collectives")),
    Stop("A distributed program that loses something",
         "Every rank adds the bias before the sum over ranks. As a page it has a lane for each rank.",
         "samesame refine tensor_parallel_bias.py --world-size 4 --html ranks.html",
         ("where the ranks lose it", "what would mend it", "outputs"), code=1, picture="ranks.html"),
    Stop("A Triton kernel",
         "What it computes for every size, what it needs, and whether it is safe; then a PyTorch function beside it. No GPU.",
         "samesame lift softmax.py:launch --against softmax.py:reference --html kernel.html", needs="triton",
         picture="kernel.html"),
    Stop("A config field that one library ignores",
         "One field of a config changed at a time, on a tiny model with random weights in Transformers and in vLLM.",
         "samesame sweep hf:qwen3 vllm:qwen3 --only attention_bias --jobs 1 --scripts found/", needs="vllm", code=1),
    Stop("A compiler",
         "Does it compile my model rightly? Equal spellings of the model are compiled, too. What a campaign of generated "
         "programs found stands in [fuzz.md](fuzz.md).",
         "samesame fuzz model.py:module --inputs model.py:inputs"),
    Stop("A faster program",
         "What is found races against eager torch and `torch.compile`, must be proved the same and round as well. What is "
         "fastest, and by how much, a machine decides: this was one with two cores.",
         "samesame optimize gated.py:module --inputs gated.py:inputs --threads 1",
         ("side by side", "what was changed", "proof", "numeric contract"), steady=False),
    Stop("A proof for somebody else",
         "A certificate holds every step; `replay` checks it without searching, and says what it had to trust.",
         "samesame replay proof.json", first=("samesame check pair.py --certificate proof.json",)),
    Stop("Many at once",
         "Pairs, jobs and kernels with the verdicts that are expected of them ([cli.md](cli.md#suite)). A second run asks only "
         "what has changed since.",
         "samesame suite suite.toml --jobs 2", first=("samesame suite suite.toml --jobs 2",), needs="triton"),
    Stop("In a test suite",
         "The fixture `samesame` comes with the package. A failure is the place and the report.",
         "pytest -q test_port.py", ("=", "different", "where they part", "what would mend it"), file=("test_port.py", TEST),
         code=1),
    Stop("What samesame sees",
         "The graph of a program, each operator with its line. `--save` keeps it, and `check` takes it as a target.",
         "samesame graph pair.py:right"),
]


class Workplace:
    """A folder with the files of examples/ and a config, where commands run; rules are kept from no stop to the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
        (folder / "qwen3").mkdir()
        (folder / "qwen3" / "config.json").write_text('{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]}')
        self.stops = 0

    def output(self, stop: Stop) -> tuple[int, str]:
        """Exit code and output of a stop."""
        self.stops += 1
        if stop.file[0]:
            (self.folder / stop.file[0]).write_text(stop.file[1])
        for command in stop.first:
            self.run(command)
        ran = self.run(stop.command)
        if ran.returncode == 2:
            raise SystemExit(f"{stop.command}: {ran.stderr}")
        return ran.returncode, ran.stdout

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        program, *words = shlex.split(command)
        module = {"samesame": ["-m", "samesame"], "pytest": ["-m", "pytest", *PLUGIN], "python": []}[program]
        environment = {**os.environ, "COLUMNS": "100", "SAMESAME_STORE": str(self.folder / f"rules{self.stops}.db"),
                       "PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}"}
        return subprocess.run([sys.executable, *module, *words], cwd=self.folder, env=environment,
                              capture_output=True, text=True)


def excerpt(stop: Stop, output: str) -> str:
    """What the page keeps of an output."""
    if stop.kept:
        first, *paragraphs = output.strip("\n").split("\n\n")
        found = [first, *(text if text.startswith(stop.kept) else "…" for text in paragraphs)]
        output = "\n\n".join(text for k, text in enumerate(found) if text != "…" or found[k - 1] != "…")
    lines = output.strip("\n").splitlines()
    return "\n".join([*lines[: stop.lines], *(["…"] if len(lines) > stop.lines else [])])


def section(stop: Stop, place: Workplace) -> str:
    """A stop on the page. It runs it, and takes its picture."""
    code, output = place.output(stop)
    if code not in ((stop.code,) if stop.steady else (0, 3)):
        raise SystemExit(f"{stop.command} ends with {code}, not with {stop.code}:\n{output}")
    parts = [heading(stop), stop.words]
    if stop.file[0]:
        parts.append(f"```python\n# {stop.file[0]}\n{stop.file[1]}```")
    parts += [f"    {stop.command}", f"```{stop.language}\n{excerpt(stop, output)}\n```"]
    if stop.picture:
        take(place.folder / stop.picture, DOCS / "img" / picture(stop))
        parts.append(f"![{stop.title}](img/{picture(stop)})")
    return "\n\n".join(parts) + "\n"


def heading(stop: Stop) -> str:
    return f"## {stop.title}"


def sections(page: str) -> dict[str, str]:
    """The stops of a page that was written before, by their headings."""
    return {part.partition("\n")[0]: part.strip("\n") + "\n" for part in re.split(r"^(?=## )", page, flags=re.M)[1:]}


def picture(stop: Stop) -> str:
    return Path(stop.picture).with_suffix(".png").name


def take(page: Path, file: Path) -> None:
    """A page as Chromium draws it, in few colours."""
    from PIL import Image

    file.parent.mkdir(exist_ok=True)
    subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--window-size={WIDE},{TALL}", f"--screenshot={file}", page.as_uri()], check=True, capture_output=True)
    Image.open(file).convert("RGB").quantize(32, dither=Image.Dither.NONE).save(file, optimize=True)


def main(words: list[str]) -> None:
    file = DOCS / "tour.md"
    kept = sections(file.read_text()) if words else {}
    with tempfile.TemporaryDirectory() as made:
        place = Workplace(Path(made))
        for stop in STOPS:
            if heading(stop) not in kept or any(word in stop.title for word in words):
                kept[heading(stop)] = section(stop, place)
                print(stop.title, flush=True)
    file.write_text("\n".join([OPENING, *(kept[heading(stop)] for stop in STOPS)]))


if __name__ == "__main__":
    main(sys.argv[1:])
