"""No name in a program, a suite or a file of weights colours, moves or turns around what a terminal shows."""

import io
import subprocess
import sys

import pytest

from samesame.report.visible import Visible, visible

EVIL = "a\x1b[31m\u202eb\rc\x9bd"
SEEN = "a⟨U+001B⟩[31m⟨U+202E⟩b"
PAIR = r'''
import torch
from torch import nn


class Named(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        torch.manual_seed(0)
        self.add_module("a\x1b[31m\u202eb", nn.Linear(4, 4))

    def forward(self, x):
        return self.function(self.get_submodule("a\x1b[31m\u202eb")(x))


def left():
    return Named(torch.sin)


def right():
    return Named(torch.cos)


def same(x):
    return x


def inputs():
    return (torch.linspace(-1, 1, 8).reshape(2, 4),)
'''


@pytest.fixture
def samesame(tmp_path):
    """Run a command beside `pair.py`: what it prints, with colours."""
    (tmp_path / "pair.py").write_text(PAIR)

    def run(*words):
        environment = {"PATH": "/usr/bin:/bin", "FORCE_COLOR": "1", "TERM": "xterm", "PYTHONPATH": ":".join(sys.path),
                       "HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-m", "samesame", *words], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return run


def test_hidden_characters_are_written_as_their_numbers():
    assert visible(EVIL) == f"{SEEN}⟨U+000D⟩c⟨U+009B⟩d"
    assert visible("Σ a·b ≤ ∞\tand\nso on\r\n") == "Σ a·b ≤ ∞\tand\nso on\r\n"
    stream = Visible(io.StringIO())
    print(EVIL, file=stream)
    assert stream.getvalue().startswith(SEEN) and stream.under.getvalue().endswith("\n")


def test_the_name_of_a_module(samesame):
    told = samesame("check", "pair.py", "--verbose", "--store", "-")
    assert "\x1b[1;31mdifferent" in told                    # its own colours stay
    assert SEEN in told and "\x1b[31m\u202e" not in told and "\u202e" not in told


def test_the_name_of_an_entry_and_of_what_is_refused(samesame, tmp_path):
    (tmp_path / "suite.toml").write_text('[[check]]\nname = "a\\u001B[31m\\u202Eb"\nleft = "pair.py:left"\n'
                                         'right = "pair.py:gone"\ninputs = "pair.py:inputs"\n')
    told = samesame("suite", "suite.toml", "--jobs", "1", "--store", "-")
    assert SEEN in told and "\u202e" not in told and "\x1b[31m" not in told
    told = samesame("check", "pair.py:a\x1b[31m\u202eb", "pair.py:same", "--inputs", "pair.py:inputs")
    assert told.startswith("samesame: ") and SEEN in told and "\u202e" not in told
