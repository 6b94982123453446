"""Every command and every piece of Python that README and docs show is run here, on the files that they name, and ends
as they say. What cannot be run here stands in `ASIDE`, each with what it needs.

The files are those of `examples/`, beside a checkpoint, a GGUF file and an export that are made here. `RUNS` says of
each command how it ends: its exit code, and words of its output; and what is run in its place where a page leaves
something open (a folder, an address) or takes half an hour. A new command in a page needs a line here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.main import get_command

from documented import PAGES, ROOT, TOUR, blocks, commands, kept_reports, missing, python
from samesame.cli import app

ENTANGLE = ROOT.parent / "shared" / "data" / "entangle" / "gpt" / "relation.json"
TIME = 420                                                        # seconds for one command, on a busy machine


@dataclass(frozen=True)
class Ends:
    """How a command ends: its exit code (or one of several), words of its output, and what it needs: packages, things
    made before it, commands run before it."""

    code: int | tuple[int, ...]
    says: str = ""
    run: str = ""                                                 # in its place
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


HF, VLLM, TRITON = ("transformers",), ("transformers", "vllm"), ("triton",)
SAME = Ends(0, "same   every output proved for every B ≥ 2")
TESTED = Ends(0, "same", needs=VLLM)
GATED = "optimize gated.py:module --inputs gated.py:inputs"
HUNT = "samesame fuzz --backend aot_eager --cases 2 --out found/"

RUNS = {
    "make demo": Ends(0, "Transformers' Llama", run="python examples/demo.py", needs=HF),
    "samesame check pair.py": SAME,
    "samesame check model.py:Separate model.py:Fused --inputs model.py:inputs": SAME,
    "samesame check examples/training.py:ByTorch examples/training.py:ByHand --inputs examples/training.py:inputs":
        Ends(0, "same   every output proved"),
    "samesame suite suite.toml --jobs 2": Ends(0, "4 entries: 4 as expected", needs=TRITON),
    "samesame suite suite.toml": Ends(0, "4 entries: 4 as expected", needs=TRITON),
    "samesame rules list": Ends(0, "proved", after=("samesame check pair.py",)),
    "samesame check pair.py --certificate proof.json": SAME,
    "samesame replay proof.json": Ends(0, "holds", after=("samesame check pair.py --certificate proof.json",)),
    "samesame check pair.py --html report.html": SAME,
    "samesame graph pair.py:right": Ends(0, "aten."),
    "samesame check hf:DIR vllm:DIR": TESTED,
    "samesame check hf:DIR vllm:DIR --tiny": TESTED,
    "samesame check hf:DIR?attn=eager hf:DIR?attn=sdpa vllm:DIR --tiny": TESTED,
    "samesame check hf:DIR?attn=eager hf:DIR?attn=sdpa --tiny": TESTED,
    'samesame check "hf:DIR?attn=eager" "hf:DIR?attn=sdpa" --tiny': TESTED,
    "samesame check hf:DIR gguf:FILE": Ends(0, "same", needs=("gguf",)),
    "samesame check vllm:DIR 'vllm:DIR?compiled=true'": TESTED,
    "samesame sweep hf:CONFIG vllm:CONFIG --scripts found/":
        Ends(0, "probe", needs=VLLM,
             run="samesame sweep hf:CONFIG vllm:CONFIG --scripts found/ --only rms_norm_eps --jobs 1"),
    "samesame lift softmax.py:launch --against softmax.py:reference": Ends(0, "same, if all that is", needs=TRITON),
    "samesame optimize examples/gated.py:module --inputs examples/gated.py:inputs --threads 1 --out fast/":
        Ends((0, 3), "side by side"),
    "samesame refine examples/tensor_parallel.py --world-size 4": Ends(0, "refines   1 output on 4 ranks"),
    "samesame refine examples/tensor_parallel_bias.py --world-size 4": Ends(1, "does not refine   output 0"),
    "samesame check layer_by_hand.py:Library layer_by_hand.py:Port --inputs layer_by_hand.py:inputs": SAME,
    "samesame refine data_parallel.py": Ends(0, "refines   1 output on 2 ranks"),
    "samesame refine hf:DIR --tp 2 --train": Ends(0, "refines", needs=HF),
    "samesame refine --case relation.json": Ends(0, "refines", needs=("Entangle",)),
    "samesame fuzz --backend inductor --minutes 30 --jobs 2 --out found/":
        Ends((0, 1, 3), "programs", run="samesame fuzz --backend inductor --cases 2 --jobs 2 --out found/"),
    "samesame fuzz model.py:module --inputs model.py:inputs": Ends(0, "compiled rightly"),

    "samesame check LEFT RIGHT --inputs TARGET":
        Ends(0, "same", run="samesame check model.py:Separate model.py:Fused --inputs model.py:inputs"),
    "samesame graph TARGET [--inputs TARGET]": Ends(0, "aten.", run="samesame graph pair.py:right"),
    "samesame graph TARGET --save FILE": Ends(0, run="samesame graph pair.py:right --save right.json.gz"),
    "samesame replay FILE [--graphs LEFT RIGHT]":
        Ends(0, "holds", run="samesame replay proof.json --graphs left.json.gz right.json.gz", after=(
            "samesame check pair.py --certificate proof.json", "samesame graph pair.py:left --save left.json.gz",
            "samesame graph pair.py:right --save right.json.gz")),
    "samesame refine JOB --world-size N": Ends(0, "refines", run="samesame refine tensor_parallel.py --world-size 2"),
    "samesame refine hf:DIR --tp N [--train]": Ends(0, "refines", run="samesame refine hf:DIR --tp 2", needs=HF),
    "samesame refine --case FILE": Ends(0, "refines", run="samesame refine --case relation.json", needs=("Entangle",)),
    "samesame sweep hf:CONFIG vllm:CONFIG":
        Ends(0, "probe", run="samesame sweep hf:CONFIG vllm:CONFIG --only rms_norm_eps --jobs 1", needs=VLLM),
    "samesame fuzz [TARGET --inputs TARGET]":
        Ends(0, "compiled rightly", run="samesame fuzz model.py:module --inputs model.py:inputs"),
    "samesame optimize TARGET --inputs TARGET": Ends((0, 3), "side by side", run=f"samesame {GATED} --minutes 1"),
    "samesame lift FILE.py… --jobs 2": Ends(0, "verified", run="samesame lift softmax.py --jobs 2", needs=TRITON),
    "samesame lift FILE.py:LAUNCH": Ends(0, "verified", run="samesame lift softmax.py:launch", needs=TRITON),
    "samesame suite FILE.toml --jobs N": Ends(0, "as expected", run="samesame suite suite.toml --jobs 2", needs=TRITON),
    "samesame rules list | show KEY | verify | export FILE | import FILE | clear":
        Ends(0, "forgotten", run="samesame rules clear --yes", after=(
            "samesame check pair.py", "samesame rules list", "samesame rules export rules.jsonl",
            "samesame rules import rules.jsonl", "samesame rules verify")),
    "samesame --version": Ends(0, "samesame "),
    "samesame --install-completion": Ends(0, "", run="bash -c 'samesame --install-completion; test -s ~/.bashrc'"),
    "samesame VERB --help": Ends(0, "Exit codes: ", run="samesame suite --help"),

    "samesame fuzz --resume --minutes 30 --jobs 2 --out found/":
        Ends((0, 1, 3), "programs", run="samesame fuzz --resume --cases 3 --jobs 2 --out found/ --backend aot_eager",
             after=(HUNT,)),
    "samesame fuzz --store rules.sqlite --out found/":
        Ends((0, 1, 3), "programs", run=f"{HUNT} --store rules.sqlite",
             after=("samesame check pair.py --store rules.sqlite",)),
    "samesame fuzz --list found/ --html found.html": Ends(1, "1 fault", needs=("finding",)),
    "samesame fuzz --replay found/0007": Ends((0, 1), "it ", needs=("finding",)),
    "samesame fuzz --backend list": Ends(0, "inductor "),
    "samesame check --store PATH":
        Ends(0, "same", run="samesame check pair.py --store rules.sqlite"),
    "samesame fuzz models.py:module --inputs models.py:tokens":
        Ends(0, "compiled rightly", run="samesame fuzz model.py:module --inputs model.py:inputs"),

    "samesame check model.py:Separate model.py:Fused --inputs model.py:inputs --html report.html": SAME,
    "samesame fuzz --list FOLDER --html FILE":
        Ends(1, "1 fault", run="samesame fuzz --list found/ --html found.html", needs=("finding",)),
    "samesame suite FILE.toml --html FILE":
        Ends(0, "as expected", run="samesame suite suite.toml --html suite.html", needs=TRITON),
    "samesame check hf:DIR gguf:FILE --html FILE":
        Ends(0, "same", run="samesame check hf:DIR gguf:FILE --html weights.html", needs=("gguf",)),
    "samesame fuzz --replay FINDING --html FILE":
        Ends((0, 1), "it ", run="samesame fuzz --replay found/0007 --html finding.html", needs=("finding",)),
    "samesame sweep hf:CONFIG vllm:CONFIG --jobs 2 --resume sweep.jsonl":
        Ends(0, "probe", needs=VLLM,
             run="samesame sweep hf:CONFIG vllm:CONFIG --jobs 2 --resume sweep.jsonl --only rms_norm_eps"),
    "samesame lift softmax.py:launch --explain": Ends(0, "as books write it", needs=TRITON),
    'samesame lift cache.py:launch --assume "distinct(slots)" --assume "N % 2 == 0 and K == 2 * N"':
        Ends(0, "verified, if", needs=TRITON),
    "samesame graph plain.py:model --save plain.json.gz":
        Ends(0, run="samesame graph pair.py:left --save plain.json.gz"),
    "python export.py": Ends(0, needs=("onnx", "onnxscript")),
    "samesame check model.py:Model model.onnx --inputs model.py:inputs":
        Ends(0, "same", needs=("onnx", "onnxruntime", "onnxscript"), after=("python export.py",)),
    f"samesame {GATED}": Ends((0, 3), "side by side", run=f"samesame {GATED} --minutes 1"),
    f"samesame {GATED} --out fast/ --minutes 5 --threads 1": Ends((0, 3), "side by side"),
    "samesame optimize hf:DIR --module model.layers.0.mlp":
        Ends((0, 3), "side by side", run="samesame optimize hf:DIR --module model.layers.0.mlp --minutes 1", needs=HF),
    f"samesame {GATED} --target cuda --out fast/": Ends(3, "not timed", needs=TRITON),
    "samesame sweep hf:CONFIG vllm:CONFIG --jobs 2 --scripts found/":
        Ends(0, "probe", needs=VLLM,
             run="samesame sweep hf:CONFIG vllm:CONFIG --jobs 2 --scripts found/ --only rms_norm_eps"),
}

ASIDE = {
    "samesame replay fast/certificate.json":
        "there is one where something faster was found; tests/optimize/test_optimize_verb.py replays it",
    "make test": "it is what runs this",
    "make test-all": "it is what runs this",
    "make api": "tests/test_docs.py makes the site without it; 500 modules take minutes",
    "make site": "tests/test_docs.py",
    "pip install -e .": "a network; tests/test_wheel.py installs without one",
    "pip install -e '.[hf]'": "a network",
    "pip install 'samesame[fuzz]'": "a network",
    "pip install 'samesame[onnx]'": "a network",
    "samesame fuzz --ray ADDRESS --jobs 16 --out found/": "a Ray cluster: tests/fuzz/test_cluster.py",
    "samesame suite suite.toml --ray ADDRESS": "a Ray cluster: tests/suite/test_suite_afar.py",
    "python docs/tour.py": "tests/test_tour.py runs its stops",
    "python benchmarks/fuzz.py faults": "hours: it makes the figures beside it",
    "python benchmarks/sweep.py": "a quarter of an hour: it makes the figures beside it",
    "python benchmarks/vllm_architectures.py": "hours: it makes the figures beside it",
}

SHOWN = [shown for page in PAGES if page != TOUR for shown in commands(page)]       # tests/test_tour.py has the tour
DISTINCT = list({shown.text: shown for shown in SHOWN}.values())


def test_every_command_is_run_or_set_aside_with_its_reason():
    unknown = [f"{shown}: {shown.text}" for shown in DISTINCT if shown.text not in RUNS and shown.text not in ASIDE]
    assert not unknown, "say in RUNS of this file how it ends"
    assert not {*RUNS, *ASIDE} - {shown.text for shown in SHOWN}, "no page shows these any more"


def test_every_verb_is_on_the_page_of_the_command_line():
    page = (ROOT / "docs" / "cli.md").read_text()
    missing = [verb for verb in get_command(app).commands if f"samesame {verb} " not in page]
    assert not missing, f"docs/cli.md lacks {missing}"


@pytest.mark.parametrize("text", [shown.text for shown in DISTINCT if shown.text.startswith("samesame ")])
def test_the_command_line_takes_every_command(text):
    """Verbs, options and their values are such as it knows; nothing is run."""
    words = shlex.split(RUNS[text].run or text if text in RUNS else text)
    if words[0] != "samesame" or words[1].startswith("-"):
        return
    command, rest = get_command(app), words[1:]
    while hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    if "--help" not in rest:
        command.make_context("samesame", rest)


def test_what_is_set_aside_is_there():
    makefile, project = (ROOT / "Makefile").read_text(), (ROOT / "pyproject.toml").read_text()
    for text in ASIDE:
        program, word, *_ = text.split()
        if program == "make":
            assert f"\n{word}:" in makefile, text
        if program == "python":
            assert (ROOT / word).is_file(), text
        for extra in re.findall(r"\[(.*?)\]", text):
            assert f"\n{extra} = [" in project, text


def shown_as(file: str) -> str:
    """What a page shows as this file: a piece of code that begins with its name, or the suite of docs/cli.md."""
    for page in PAGES:
        for _, language, text in blocks(page):
            if text.startswith(f"# {file}\n") or (file, language) == ("suite.toml", "toml"):
                return text.removeprefix(f"# {file}\n")
    raise AssertionError(f"no page shows {file}")


@pytest.mark.parametrize("file", ["pair.py", "suite.toml"])
def test_a_file_that_a_page_shows_is_the_one_in_examples(file):
    assert (ROOT / "examples" / file).read_text().endswith(shown_as(file))


# ------------------------------------------------------------------------------------------------ where they are run


def checkpoint(folder: Path) -> None:
    """A small Llama with random weights, and what llama.cpp would make of it."""
    from samesame.capture.checkpoints.folders import tiny

    tiny({"model_type": "llama"}, folder / "checkpoint", {"num_key_value_heads": 2})


def gguf_file(folder: Path) -> None:
    from test_gguf import llama, write

    (folder / "checkpoint").mkdir()
    write(folder / "checkpoint" / "model.gguf", llama(folder / "checkpoint"))


def finding(folder: Path) -> None:
    """A campaign's folder with one finding: the product with zero that forgets NaN, of docs/fuzz.md."""
    from samesame.fuzz.campaign import Settings
    from samesame.fuzz.corpus import Corpus, Finding
    from samesame.fuzz.finding import write_finding
    from samesame.fuzz.program import Input, Program, Ref, Step, encoded, source

    x = Input("x", "torch.tensor([float('nan'), 1.0])")
    program = Program((x,), (Step(("y",), "torch.mul", (Ref("x"), 0)),), ("y",))
    found = Finding(7, "inductor", "wrong value", "output 0", "0.0 for nan", encoded(program), source(program),
                    calls=["torch.mul"], dtypes=["float"])
    corpus = Corpus(folder / "found", Settings(backends=("inductor",)).kept(), resume=False)
    corpus.keep(found)
    corpus.close()
    write_finding(folder / "found", found)


def entangle(folder: Path) -> None:
    if not ENTANGLE.exists():
        pytest.skip("a case that Entangle captured is not on this machine")
    for file in ENTANGLE.parent.iterdir():
        (folder / file.name).symlink_to(file)


MADE: dict[str, Callable[[Path], None]] = {"finding": finding, "gguf": gguf_file, "Entangle": entangle}


@pytest.fixture
def place(tmp_path):
    """A folder with the files of examples/, and a home of its own."""
    shutil.copytree(ROOT / "examples", tmp_path / "work")
    work = tmp_path / "work"
    shutil.copytree(ROOT / "examples", work / "examples")
    (work / "export.py").write_text(shown_as("export.py"))
    program = tmp_path / "bin" / "samesame"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m samesame "$@"\n')
    program.chmod(0o755)
    return work


def run(work: Path, text: str, home: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a shell would, with the files in place of what pages call DIR, CONFIG and FILE."""
    for name, file in (("hf:DIR", "hf:checkpoint"), ("vllm:DIR", "vllm:checkpoint"), ("CONFIG", "checkpoint"),
                       ("gguf:FILE", "gguf:checkpoint/model.gguf")):
        text = text.replace(name, file)
    words = shlex.split(text)
    words = [sys.executable, *words[1:]] if words[0] == "python" else words
    environment = {
        **os.environ, "HOME": home, "PATH": f"{work.parent / 'bin'}:{os.environ['PATH']}", "COLUMNS": "100",
        "PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}", "SAMESAME_STORE": f"{work.parent}/rules.db",
    }
    return subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, timeout=TIME)


@pytest.mark.long
@pytest.mark.parametrize("shown", [shown for shown in DISTINCT if shown.text in RUNS], ids=lambda shown: shown.text)
def test_the_command_ends_as_the_page_says(shown, place):
    ends = RUNS[shown.text]
    for package in ends.needs:
        if package not in MADE or package == "gguf":
            pytest.importorskip(package, reason=f"needs {package}")
    for made in filter(MADE.get, ends.needs):
        MADE[made](place)
    if (":DIR" in shown.text or "CONFIG" in shown.text) and not (place / "checkpoint").exists():
        checkpoint(place)
    for before in ends.after:
        assert run(place, before, str(place.parent)).returncode in (0, 1), before
    ran = run(place, ends.run or shown.text, str(place.parent))
    codes = ends.code if isinstance(ends.code, tuple) else (ends.code,)
    assert ran.returncode in codes, f"{shown}: {ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert ends.says in " ".join(ran.stdout.split()) or ends.says in ran.stdout, ran.stdout[-2000:]
    reports = kept_reports("README.md", "make demo") if shown.text == "make demo" else [shown.report]
    for report in filter(None, reports):
        assert not missing(report, ran.stdout), ran.stdout


def test_a_report_is_compared_word_by_word():
    output = "refines   1 output\n  took 3.1 s\nby up to 0.46 of the largest\nend"
    assert missing("refines 1\n output … by up to 0.5 of the largest\n…", output) == ""
    assert missing("refines 2 outputs …", output) and missing("end … refines", output)


# ------------------------------------------------------------------------------------------------------------ Python

PIECES = {f"{page} {shown.text.splitlines()[0].split('  ')[0]}": shown for page in PAGES for shown in python(page)
          if not shown.text.startswith("# ")}                                 # a file, of a command that runs it
MODEL = "from model import module, inputs\nmodule = model = module()\n"


@dataclass(frozen=True)
class Around:
    """What a piece of Python takes for granted, what makes it do something, and what it needs."""

    before: str
    after: str = ""
    needs: tuple[str, ...] = ()
    first: str = ""                                              # a command that makes what it reads


AROUND = {
    "README.md from samesame import assert_same, check": Around("from pair import *", "test_port()"),
    "docs/cli.md @pytest.mark.samesame(pinned=True, timeout=60)": Around("import pytest\nfrom model import *"),
    "docs/fuzz.md from samesame import assert_compiles": Around(MODEL, "test_compiler()"),
    "docs/lift.md @triton.jit": Around("import torch, triton, triton.language as tl"),
    "docs/optimize.md from samesame import optimize":
        Around(MODEL, "import os; assert os.path.exists('fast/fast.py') and callable(fast.module)"),
    "docs/optimize.md from fast import optimized": Around(
        "import sys; sys.path.insert(0, 'fast')\n"
        "from transformers import AutoModelForCausalLM as Auto\nmodel = Auto.from_pretrained('checkpoint')",
        "import torch; model(torch.arange(8)[None])", HF,
        "samesame optimize hf:DIR --module model.layers.0.mlp --minutes 1 --out fast/"),
    "docs/pairs.md from pairs.corpus import PAIRS": Around(f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})"),
}


def test_files_that_pages_show_are_those_of_examples():
    for page in PAGES:
        for shown in python(page):
            name, _, body = shown.text.removeprefix("# ").partition("\n")
            if (file := ROOT / "examples" / name).is_file():
                assert file.read_text().partition('\n"""\n')[2].strip() == body.strip(), str(shown)


def test_every_piece_of_python_is_run():
    assert {*PIECES} == {*AROUND}, "say in AROUND of this file what stands before it"


@pytest.mark.long
@pytest.mark.parametrize("name", AROUND)
def test_the_piece_of_python_does_what_its_comments_say(name, place):
    around, piece = AROUND[name], PIECES[name].text
    for package in around.needs:
        pytest.importorskip(package)
    home = str(place.parent)
    if around.first:
        checkpoint(place)
        assert run(place, around.first, home).returncode in (0, 3)
    (place / "test_piece.py").write_text(f"{around.before}\n{piece}\n{around.after}\n")
    if piece.startswith("@pytest"):
        words = "python -m pytest -q -p no:samesame -p samesame.pytest.plugin -p no:cacheprovider test_piece.py"
        assert run(place, f"{words} --samesame-update", home).returncode == 0
    else:
        words = "python test_piece.py"
    ran = run(place, words, home)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for line in filter(lambda line: line.startswith("print("), piece.splitlines()):
        assert line.partition("# ")[2].startswith(tuple(ran.stdout.splitlines())), ran.stdout
