"""On the command line: a difference beside numbers exits with 1, is said in the headline, and can be ignored."""

import json
from importlib.resources import files
from itertools import count

import jsonschema
import pytest

from samesame import cli

PAIRS = {
    "dtype": ("return x * 2", "return (x * 2).double()", "output 0 is float32 on the left and float64 on the right"),
    "shape": ("return x.sum(1)", "return x.sum(1, keepdim=True)", "output 0 is float32[4] on the left and float32[4, "),
    "structure": ("return x * 2, x + 1", "return [x * 2, x + 1]", "the result is a tuple of 2 on the left and a list"),
    "values": ("return x * 2, 'mean'", "return x * 2, 'sum'", "output 1 is 'mean' on the left and 'sum' on the right"),
    "aliasing": ("return x", "return x.clone()", "output 0 is the input x itself on the left and has memory of its"),
    "state": ("x.add_(1); return x * 2", "return (x + 1) * 2", "x after the call"),
}


@pytest.fixture
def samesame(tmp_path, monkeypatch, capsys):
    """Checks a pair of bodies with these options: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    names = (f"pair{number}.py" for number in count())     # a file of one name is imported once

    def run(left, right, *options):
        name = next(names)
        text = f"import torch\ndef left(x):\n    {left}\ndef right(x):\n    {right}\ninputs = (torch.randn(4, 3),)\n"
        (tmp_path / name).write_text(text)
        with pytest.raises(SystemExit) as left_with:
            cli.app(["check", name, "--store", "-", *options], prog_name="samesame")
        return left_with.value.code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("kind", PAIRS)
def test_a_difference_beside_numbers_exits_with_1_and_can_be_ignored(samesame, kind):
    left, right, said = PAIRS[kind]
    code, out, _ = samesame(left, right, "--quiet")
    assert code == 1 and out.startswith("different") and said in out
    code, out, _ = samesame(left, right, "--quiet", "--ignore", f"{kind}")
    assert code == 0 and out.startswith("same")
    assert kind == "state" or f"{kind} aside" in out


def test_several_kinds_are_separated_by_commas(samesame):
    left, right = "return x * 2, x", "return [(x * 2).double(), x.clone()]"
    assert samesame(left, right, "--quiet", "--ignore", "dtype,structure")[0] == 1
    code, out, _ = samesame(left, right, "--quiet", "--ignore", "dtype, structure,aliasing")
    assert code == 0 and "structure, dtype and aliasing aside" in out


def test_another_word_is_refused_in_one_sentence(samesame):
    code, out, err = samesame("return x", "return x", "--ignore", "dtypes")
    assert code == 2 and not out
    assert err.strip().endswith(
        "--ignore dtypes: there is no such kind of difference; give structure, values, dtype, shape, aliasing, state"
    )


def test_json_has_the_differences(samesame):
    schema = json.loads(files("samesame.report").joinpath("check.schema.json").read_text())
    for left, right, _ in PAIRS.values():
        for options in ([], ["--ignore", "dtype,shape,structure,values,aliasing,state"]):
            code, out, _ = samesame(left, right, "--json", "-", *options)
            verdict = json.loads(out)
            jsonschema.validate(verdict, schema)
            assert verdict["verdict"] == ("same" if options else "different") and code == (0 if options else 1)
    verdict = json.loads(samesame(*PAIRS["dtype"][:2], "--json", "-")[1])
    (found,) = verdict["differences"]
    assert (found["kind"], found["final"], verdict["scope"]) == ("dtype", False, "")
