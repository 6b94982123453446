"""The wheel, installed beside what it declares and nothing else (torch, no extras): it checks two programs, writes
pages, and names what is missing. It holds the whole package; the source distribution holds all that a clone does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement
from safetensors.torch import save_file

ROOT = Path(__file__).parent.parent
EXTRAS = ("transformers", "triton", "vllm", "onnx", "onnxruntime", "jax", "gguf", "pytest", "hypothesis", "egglog")
pytestmark = pytest.mark.long

PAIR = """
import torch
from torch import nn

weight = torch.randn(5, 7)

def left(x):
    return nn.functional.gelu(x @ weight)

def right(x):
    return nn.functional.gelu(nn.functional.linear(x, weight.t()))

def other(x):
    return nn.functional.gelu(x @ weight, approximate="tanh")

inputs = (torch.randn(3, 5),)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel and a source distribution of this working tree."""
    pytest.importorskip("hatchling", reason="the wheel is built with hatchling: pip install hatchling")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def tracked(folder: Path) -> set[str]:
    """The files that git knows below a folder and that are still there."""
    ran = subprocess.run(["git", "ls-files"], cwd=folder, capture_output=True, text=True, check=True)
    return {name for name in ran.stdout.splitlines() if (folder / name).exists()}


def test_the_wheel_has_every_file_of_the_package_and_the_commands(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names, package = wheel.namelist(), ROOT / "src" / "samesame"
        assert {f"samesame/{name}" for name in tracked(package)} <= {*names}
        entries = wheel.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert "samesame = samesame.cli:main" in entries and "samesame = samesame.pytest.plugin" in entries


def test_the_source_distribution_has_what_a_clone_has(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked(ROOT) <= names


def needed(name: str, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """A distribution that is installed here and all that it needs without extras, by name."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key not in found:
        found[key] = metadata.distribution(name)
        for wanted in map(Requirement, found[key].requires or []):
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                needed(wanted.name, found)
    return found


@pytest.fixture(scope="module")
def alone(built, tmp_path_factory):
    """An environment with the wheel and what it declares; the packages themselves are links to those installed here."""
    home = tmp_path_factory.mktemp("alone")
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(site)
    declared = metadata.Distribution.at(next(site.glob("samesame-*.dist-info"))).requires or []
    found: dict[str, metadata.Distribution] = {}
    for wanted in map(Requirement, declared):
        if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
            needed(wanted.name, found)
    for distribution in found.values():
        for top in {Path(file).parts[0] for file in distribution.files or [] if ".." not in Path(file).parts}:
            source, link = Path(str(distribution.locate_file(top))), site / top
            if source.exists() and not link.exists() and top != "__pycache__":
                link.symlink_to(source)
    (home / "work").mkdir()
    (home / "work" / "pair.py").write_text(PAIR)

    def run(*words):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "OMP_NUM_THREADS": "1"}
        return subprocess.run([home / "bin" / "python", *words], cwd=home / "work", env=environment,
                              capture_output=True, text=True)

    return run


def test_nothing_else_is_there(alone):
    probe = f"import importlib.util as u; print([name for name in {EXTRAS} if u.find_spec(name)])"
    assert alone("-c", probe).stdout.strip() == "[]"


def test_two_torch_programs_are_checked(alone, tmp_path):
    same = alone("-m", "samesame", "check", "pair.py", "--html", "same.html", "--certificate", "proof.json")
    assert same.returncode == 0 and same.stdout.startswith("same   every output proved for every "), same.stderr
    assert alone("-m", "samesame", "replay", "proof.json").stdout.startswith("holds\n")
    other = alone("-m", "samesame", "check", "pair.py:left", "pair.py:other", "--inputs", "pair.py:inputs",
                  "--json", "-", "--sarif", "found.sarif")
    assert other.returncode == 1 and json.loads(other.stdout)["verdict"] == "different", other.stderr


def test_samesame_is_imported_before_torch_is(alone):
    probe = "import sys, samesame; assert 'torch' not in sys.modules; from samesame import check, assert_same; check"
    ran = alone("-c", probe)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("words, extra", [
    (("check", "hf:.", "vllm:.", "--tiny"), "hf"),
    (("check", "pair.py:left", "model.onnx", "--inputs", "pair.py:inputs"), "onnx"),
    (("check", "pair.py:left", "jax:pair.py:left", "--inputs", "pair.py:inputs"), "jax"),
    (("check", "hf:.", "gguf:model.gguf"), "gguf"),
    (("lift", "pair.py:left"), "triton"),
])
def test_a_missing_extra_is_named(alone, words, extra):
    folder = Path(alone("-c", "import os; print(os.getcwd())").stdout.strip())
    (folder / "config.json").write_text('{"model_type": "llama"}')
    save_file({"w": torch.zeros(2)}, folder / "model.safetensors")
    for name in ("model.onnx", "model.gguf"):
        (folder / name).write_bytes(b"x")
    ran = alone("-m", "samesame", *words)
    assert ran.returncode == 2 and f"samesame[{extra}]" in ran.stderr, ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1, ran.stderr
