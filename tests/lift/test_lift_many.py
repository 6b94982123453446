"""Many launch functions in one run: those that are named, and all of a file; one that ends its process costs itself."""

from __future__ import annotations

import json
import os

import pytest

pytest.importorskip("triton")

from typer.testing import CliRunner

from samesame.cli import app
from samesame.evidence import SamesameError
from samesame.lift.many import Many, _Lifting, forking, lifted
from samesame.work import reads
from samesame.work.record import open_record
from samesame.work.tasks import Done

KERNELS = """
import os
import torch, triton, triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

def copied(x, grid=None):
    out = torch.empty_like(x)
    copy_kernel[grid or (triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out

def launch_ends(n=100):
    os._exit(4)
    return copied(torch.randn(n, device="cuda"))

def launch_one(n=100):
    return copied(torch.randn(n, device="cuda"))

def launch_half(n=100):
    return copied(torch.randn(n, device="cuda"), (1,))

def beside(n=100):
    return torch.randn(n)

def _hidden():
    return launch_one()
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path / "kernels.py"


def run(*words):
    found = CliRunner().invoke(app, ["lift", *map(str, words)])
    return found.exit_code, found.stdout, found.stderr


def test_a_file_is_all_its_functions_that_launch_a_kernel_and_need_no_arguments(file):
    junit = file.with_suffix(".xml")
    code, out, err = run(file, "-j", "2", "--json", file.with_suffix(".json"), "--junit", junit)
    assert code == 1 and not err
    assert out.startswith("3 launch functions: 1 verified, 1 violated, 1 could not be looked at   ")
    places = [out.index(part) for part in (f"{file}:launch_ends\n  a program ended the process (exit code 4)",
                                           f"{file}:launch_one\n  copy_kernel   verified",
                                           f"{file}:launch_half\n  copy_kernel   violated")]
    assert places == sorted(places)
    assert out.endswith(f"not lifted, since they need arguments (--inputs): {file}:copied\n")
    form = json.loads(file.with_suffix(".json").read_text())
    assert form["exit_code"] == 1 and [part["verdict"] for part in form["launches"]] == [
        "unusable", "verified", "violated"]
    assert junit.read_text().count("<testcase") == 3


def test_several_are_in_the_order_in_which_they_were_named(file):
    code, out, _ = run(f"{file}:launch_one", f"{file}:missing", "--quiet")
    assert code == 2 and [line.partition("   ")[0] for line in out.splitlines()] == [
        "2 launch functions: 1 verified, 1 could not be looked at", f"{file}:launch_one", f"{file}:missing"]


COUNTED = """
import grids

def launch_one(n=100):
    with open(__file__ + ".asked", "a") as file:
        file.write("x")
    return copied(torch.randn(n, device="cuda"), (grids.programs,))
"""


@pytest.mark.long
def test_a_run_that_goes_on_asks_what_it_has_not_or_what_has_changed(file, tmp_path):
    file.write_text(KERNELS.partition("def launch_ends")[0] + COUNTED)
    asked, helper = tmp_path / "kernels.py.asked", tmp_path / "grids.py"

    def change(programs):
        helper.write_text(f"programs = {programs}\n")
        os.utime(helper, (programs, programs))                      # long ago: nothing changed while it ran
        os.utime(file, (0, 0))
        reads.digest.cache_clear()                                  # another process would begin without it

    change(2)
    first = run(file, "--resume", tmp_path / "record")
    times = len(asked.read_text())
    assert first[0] == 0 and first[1].startswith("1 launch function: 1 verified") and times
    again = run(file, "--resume", tmp_path / "record")
    assert again[0] == 0 and len(asked.read_text()) == times
    assert again[1].partition("\n")[2] == first[1].partition("\n")[2]
    change(1)
    code, out, _ = run(file, "--resume", tmp_path / "record")
    assert code == 1 and "1 violated" in out and len(asked.read_text()) > times, "a module that it imports is another"


@pytest.mark.parametrize("text, words, message", [
    ("x = 1", [], "has no function that launches a kernel and needs no arguments"),
    (KERNELS.partition("def launch_ends")[0], [], r"; these launch some, and need arguments: {file}:copied"),
    ("x =", [], "cannot be imported: {file}:1 raises SyntaxError"),
    ("import os; os._exit(3)", [], "{file}: a program ended the process (exit code 3)"),
    (KERNELS, ["--against", "a.py:f"], "--against is of one launch function; name that one alone, as file.py:launch"),
    (KERNELS, ["{file}:launch_one", "--html", "a.html"], "--html is of one launch function"),
    (KERNELS, ["{file}", "--resume", "{file}"], "--resume would write over {file}, which this run reads"),
    (KERNELS, ["{file}", "--resume", "{file}.txt"], "kernels.py.txt is no record of a lift; give a file that"),
])
def test_what_cannot_be_lifted_is_one_sentence(file, text, words, message):
    file.write_text(text)
    file.with_name(f"{file.name}.txt").write_text("no record")
    code, out, err = run(file, *(word.format(file=file) for word in words))
    assert code == 2 and not out and len(err.splitlines()) == 1
    assert err.startswith("samesame: ") and message.format(file=file) in err, err


@pytest.mark.parametrize("option", ["--ray", "--resume"])
def test_what_is_of_several_is_refused_for_one(file, option):
    code, out, err = run(f"{file}:launch_one", option, "a:1")
    assert code == 2 and not out
    assert err == f"samesame: {option} is of several launch functions; name a file, or more than one of them\n"


# --------------------------------------------------------------------------------------------------- on another machine

OPTIONS = {"seconds": 10.0, "elements": 0, "synthesis": True, "explain": False, "latex": False, "numerics": False}
ASKS_NOTHING = {"unseen": "", "files": {}, "folders": {}, "variables": {}, "names": [], "missing": [], "importable": {}}


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """What another machine says of a launch that is right, and of one that is wrong."""
    file = tmp_path_factory.mktemp("there") / "kernels.py"
    file.write_text(KERNELS)
    return {name: lifted(f"{file}:{name}", OPTIONS) for name in ("launch_one", "launch_half")}


def lifting(record, *, afar=True):
    return _Lifting(Many([]), 10.0, None, record, afar)


def arrived(record, form, *, here=False):
    """What is still to be done about a result, and what came of it."""
    run = lifting(record)
    result = {"lifted": form, "read": (ASKS_NOTHING, {"files": {}, "names": []})}
    more = [*run.answered(Done(run.task(form["target"]), result, 1.0, here))]
    return more, run.done.get(form["target"])


def test_what_another_machine_verifies_is_not_accepted(there, tmp_path):
    target, record = there["launch_one"]["target"], open_record(tmp_path / "record", {"record": "lift"}, dict)
    more, found = arrived(record, there["launch_one"])
    many = Many([target], [found], total=1)
    assert not more and many.exit_code == 3
    assert many.headline.startswith("1 launch function: 0 verified, 1 verified on the cluster alone   ")
    line = "not accepted: verified, says a machine of the cluster, but a launch has no certificate"
    assert f"{target}   on the cluster\n  {line}" in many.text() and many.text(short=True).count(line) == 1
    (answer,), form = found.answers, found.form
    assert (answer.verdict, answer.state, form["verdict"]) == ("not accepted", "open", "not accepted")
    assert form["there"]["verdict"] == "verified"
    for afar in (True, False):
        record = open_record(tmp_path / "record", {"record": "lift"}, dict)
        crew = Nobody()
        run = lifting(record, afar=afar)
        run.many.targets = [target]
        run.all(crew)
        assert crew.asked == ([] if afar else [target]), "without a cluster it is asked here"


class Nobody:
    """A crew that notes what it is given."""

    def __init__(self):
        self.asked, self.under_way = [], []

    def results(self, tasks):
        self.asked += [task.content for task in tasks]
        return iter(())


def test_what_another_machine_finds_violated_is_asked_here_before_it_counts(there, tmp_path):
    record, form = open_record(None, {}, dict), there["launch_half"]
    [task], found = arrived(record, form)
    assert task.here and task.content == form["target"] and found is None
    more, found = arrived(record, form, here=True)
    assert not more and found.exit_code == 1 and not found.told


def test_what_another_machine_leaves_open_stays_open(there):
    more, found = arrived(open_record(None, {}, dict), {**there["launch_one"], "exit_code": 3})
    assert not more and (found.exit_code, found.told) == (3, "on the cluster")


def test_a_worker_has_to_see_the_folder(tmp_path):
    with pytest.raises(SamesameError, match=r"has no folder .*/missing; every machine has to see it there"):
        forking(OPTIONS, str(tmp_path / "missing"), False)


@pytest.mark.long
def test_launches_on_two_nodes_are_those_of_one_machine_but_for_what_is_verified(file):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'samesame[ray]'")
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    try:
        code, out, err = run(file, "--ray", nodes.address, "--resume", file.with_suffix(".jsonl"))
    finally:
        nodes.shutdown()
    counts = "0 verified, 1 verified on the cluster alone, 1 violated, 1 could not be looked at"
    assert code == 1 and out.startswith(f"3 launch functions: {counts}   "), out + err
    assert f"{file}:launch_half\n  copy_kernel   violated" in out
    code, out, _ = run(file, "--resume", file.with_suffix(".jsonl"))
    assert code == 1 and out.startswith("3 launch functions: 1 verified, 1 violated, 1 could not be looked at   ")
