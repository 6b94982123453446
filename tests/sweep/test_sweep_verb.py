"""A sweep from its plan to its report, with workers that only pretend; and what it says of unusable input."""

import json
import math
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from samesame.cli import app
from samesame.evidence import Refused, SamesameError
from samesame.report.html.page import page
from samesame.sweep import verb
from samesame.sweep.outcome import Outcome, to_json
from samesame.sweep.probe import Plan, Probe
from samesame.sweep.verb import sweep
from samesame.work.record import Record
from samesame.work.tasks import Done

ACTS = ["gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu", "relu", "relu2", "tanh", "sigmoid", "mish"]


@pytest.fixture
def config(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))
    return folder


@pytest.fixture(autouse=True)
def pretended(monkeypatch):
    """Workers that pretend, in the way of this name."""

    def pretend(name):
        monkeypatch.setattr(verb, "LABORATORY", f"sweep_fakes:{name}")

    pretend("outcomes")
    return pretend


@pytest.fixture
def run(config):
    """The command: exit code, stdout, stderr."""

    def command(*options, only=("hidden_act",), left=f"hf:{config}", right=f"vllm:{config}", store="-"):
        chosen = [part for name in only for part in ("--only", name)]
        found = CliRunner().invoke(app, ["sweep", left, right, *chosen, "--store", store, "--jobs", "2", *options])
        return found.exit_code, found.stdout, found.stderr

    return command


def test_every_probe_ends_as_one_of_these_and_a_crash_ends_none_but_its_own(config):
    found = sweep(f"hf:{config}", f"vllm:{config}", only=["hidden_act"], jobs=2)
    ends = {o.probe.value: o.outcome for o in found.outcomes}
    assert list(ends) == ACTS
    assert {value: end for value, end in ends.items() if end != "same"} == {
        "gelu": "different", "relu": "refused", "tanh": "unsupported", "mish": "undecided"}
    assert found.base.outcome == "same" and found.exit_code == 1 and not found.unreached
    assert found.counts == {"different": 1, "undecided": 1, "unsupported": 1, "refused": 1, "same": 6, "waived": 0,
                            "same, moving nothing": 0, "not reached": 0}


def test_the_report_names_what_differs_and_who_refuses(run, tmp_path):
    code, out, _ = run("--json", str(tmp_path / "found.json"))
    assert code == 1
    assert out.startswith("llama: 10 probes: 1 different, 6 same, 1 refused, 1 not supported, 1 undecided")
    for part in ('hidden_act = "gelu"\n      vllm computes what it computes without it\n      logits differ by up',
                 'the process that ran it was ended by SIGKILL, twice',
                 'refused by vllm\n  hidden_act = "relu": Only silu is supported.'):
        assert part in out
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["exit_code"] == 1 and len(document["probes"]) == 10
    assert document["probes"][0] | {"field": "hidden_act", "value": "gelu", "ignored_by": "right"} == document[
        "probes"][0]


def test_a_script_is_written_for_each_difference(run, tmp_path):
    assert f"script {tmp_path}/scripts/llama_hidden_act_gelu.py" in run("--scripts", str(tmp_path / "scripts"))[1]
    assert [path.name for path in (tmp_path / "scripts").iterdir()] == ["llama_hidden_act_gelu.py"]


def test_what_is_waived_decides_nothing(run, tmp_path):
    waive = tmp_path / "waive.json"
    waive.write_text(json.dumps({"format": 1, "waive": [{"field": "hidden_act", "reason": "one of them is enough"}]}))
    code, out, _ = run("--waive", str(waive))
    assert code == 0 and 'waived\n  hidden_act = "gelu": different; one of them is enough' in out


def test_a_sweep_without_a_difference_exits_with_0(run):
    assert run("--quiet", only=["mlp_bias"])[0] == 0


def test_a_sweep_is_pasted_with_a_row_for_each_probe(run):
    code, out, _ = run("--format", "github")
    first, *rows = out.splitlines()
    assert code == 1 and first.startswith("❌ **llama: 10 probes: 1 different, ")
    marks = "".join(row[2] for row in rows if row.startswith("| ") and row[2] != "|")
    assert Counter(marks) == {"✅": 7, "❔": 2, "❌": 1, "➖": 1}
    assert out.count("<details>") == 1 and "refused by vllm" in out.partition("<details>")[2]


def test_a_sweep_goes_on_where_it_was_interrupted(run, config, tmp_path):
    record, folder = tmp_path / "record.jsonl", tmp_path / "notes"
    folder.mkdir()
    first = run("--resume", str(record), store=str(folder))
    assert len(record.read_text().splitlines()) == 12                     # what was swept, the config as it is, ten
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:6]) + lines[6][:30])
    before = len(list(folder.iterdir()))
    again = run("--resume", str(record), store=str(folder))
    assert first[0] == again[0] == 1
    assert again[1].splitlines()[1:] == first[1].splitlines()[1:]
    made = {path.name.rpartition("-")[0] for path in sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime_ns)}
    assert before < len(list(folder.iterdir())) < 2 * before and len(made) == 11
    assert len(record.read_text().splitlines()) == 12


def test_probes_that_were_not_reached_leave_it_undecided(config):
    found = sweep(f"hf:{config}", f"vllm:{config}", only=["mlp_bias"], timeout=1e-3)
    assert found.exit_code == 3 and [probe.field for probe in found.unreached] == ["mlp_bias"]
    assert found.notes == [
        "0 of 1 probes are done, and kept nowhere; with --resume FILE a run goes on from where it was."]


def test_ctrl_c_keeps_what_is_done(config, tmp_path):
    def interrupt(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    found = sweep(f"hf:{config}", f"vllm:{config}", only=["hidden_act"], progress=interrupt,
                  resume=tmp_path / "record.jsonl")
    assert found.interrupted and len(found.outcomes) == 3 and len(found.unreached) == 7
    there = f"kept in {tmp_path / 'record.jsonl'}; the same command goes on from there"
    assert found.goes_on == f"3 of 10 probes are done and {there}"


def test_a_config_that_cannot_be_compared_as_it_is(config, pretended):
    pretended("refused_as_it_is")
    with pytest.raises(Refused, match=r"^there is nothing to sweep, .* vLLM has no model of its own"):
        sweep(f"hf:{config}", f"vllm:{config}", only=["mlp_bias"])


def test_a_config_that_differs_as_it_is_is_told(config, pretended):
    pretended("differs_as_it_is")
    found = sweep(f"hf:{config}", f"vllm:{config}", only=["mlp_bias"])
    assert found.exit_code == 1 and "differ on the config as it is" in found.notes[0]


def test_list_shows_the_probes_and_tries_none(run):
    code, out, _ = run("--list", only=["hidden_act", "rope_parameters"])
    assert code == 0 and out.startswith('hidden_act = "gelu"\n')
    assert 'rope_parameters.mscale = 0.5   with rope_type = "yarn"\n' in out


@pytest.mark.parametrize("left, options, message", [
    ("hf:/no/such/folder", [], "there is no folder /no/such/folder"),
    ("model.py:left", [], "is no config of a library; give hf:CONFIG and vllm:CONFIG"),
    ("hf:{other}", [], "are two configs"),
    (None, ["--only", "no_field"], "there is no field no_field to probe"),
    (None, ["--waive", "{unknown}"], "waives no_field, which is no field that a sweep of llama tries"),
    (None, ["--resume", "{unknown}"], "is no record of a sweep"),
    (None, ["--resume", "{config}/config.json"], "which this run reads"),
    (None, ["--scripts", "{config}/config.json/x"], "cannot make the folder"),
    (None, ["--json", "/no/such/folder/a.json"], "cannot write"),
])
def test_unusable_input_is_one_sentence_and_exit_code_2(run, config, tmp_path, left, options, message):
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text('{"model_type": "qwen2"}')
    unknown = tmp_path / "unknown.json"
    unknown.write_text(json.dumps({"format": 1, "waive": [{"field": "no_field", "reason": "x"}]}))
    names = {"other": other, "unknown": unknown, "config": config}
    filled = [part.format(**names) for part in options]
    code, out, err = run(*filled, only=[], left=(left or f"hf:{config}").format(**names))
    assert code == 2 and not out
    assert message in err and err.startswith("samesame: ") and len(err.splitlines()) == 1, err


@pytest.mark.parametrize("text, message", [
    ('{"model_type": "no_such_model"}', "no_such_model"), ("{}", "names no model_type"), ("[", "is no JSON"),
])
def test_a_config_that_no_library_knows(run, config, text, message):
    (config / "config.json").write_text(text)
    code, _, err = run()
    assert code == 2 and message in err and len(err.splitlines()) == 1


def test_each_cell_leads_to_its_report_which_a_resumed_sweep_finds_again(run, tmp_path):
    def leads():
        page = (tmp_path / "s.html").read_text()
        return {found[0]: (tmp_path / found[0]).read_text() for found in re.finditer(r's_files/[^"]*', page)}

    told = "--html", str(tmp_path / "s.html"), "--resume", str(tmp_path / "record")
    run(*told)
    first = leads()
    assert {*first.values()} == {"the report of the config as it is"} | {
        f'the report of hidden_act = "{name}"' for name in ACTS if name != "mish"}
    run(*told)
    assert leads() == first
    (tmp_path / "record").unlink()
    run("--resume", str(tmp_path / "record"))
    for drawn in (tmp_path / "s_files").iterdir():
        drawn.unlink()
    run(*told)
    assert not leads(), "what was kept without a page has none"


PAGE = page("page.html", title="drawn")


@pytest.fixture
def made(tmp_path):
    """What becomes of the result of a probe: what is still to be done about it, and what is kept."""
    probe = Probe("mlp_bias", True, {"mlp_bias": True})

    record = Record()
    sweeping = verb._Sweeping(None, record, Plan((probe,), ()), 60.0, math.inf, None, tmp_path / "pages")

    def made(outcome, certificate=None, here=False, drawn=PAGE, **more):
        result = {**to_json(Outcome(probe, outcome)), "certificate": certificate, "page": drawn}
        return [*sweeping.made(probe, Done(sweeping.task(probe, **more), result, 1.0, here))], [*record.done]

    return made


@pytest.mark.parametrize("outcome, certificate, here, follows", [
    ("same", {"some": "proof"}, False, "arrived"),
    ("same", None, False, "again"),
    ("same", None, True, None),
    ("different", None, False, None),
])
def test_what_is_the_same_on_another_machine_is_checked_here_first(made, tmp_path, outcome, certificate, here, follows):
    more, kept = made(outcome, certificate, here)
    assert [task.here for task in more] == [True] * len(more) and bool(kept) == (follows is None)
    assert all(follows in task.content for task in more) and len(more) == (follows is not None)
    assert (tmp_path / "pages").exists() is (follows is None), "what is not accepted yet has no page"


@pytest.mark.parametrize("accepted", ["same", "undecided"])
def test_the_page_that_another_machine_drew_is_kept_once_its_certificate_holds(made, tmp_path, accepted):
    made("same", {"some": "proof"})
    more, kept = made(accepted, here=True, drawn=None, arrived={"certificate": {"some": "proof"}})
    assert not more and kept
    assert [drawn.read_text() for drawn in (tmp_path / "pages").glob("*")] == [PAGE] * (accepted == "same")


def test_a_page_that_another_machine_drew_with_a_script_of_its_own_ends_the_sweep(made):
    with pytest.raises(SamesameError, match="holds a script of its own"):
        made("different", drawn=PAGE.replace("</main>", "<script>alert(1)</script></main>"))


def test_configs_that_were_swept_one_by_one_stand_beside_one_another_in_one_page(run, tmp_path):
    first = tmp_path / "first.json"
    run("--json", str(first), "--html", str(tmp_path / "first.html"), only=("hidden_act",))
    drawn = [probe["page"] for probe in json.loads(first.read_text())["probes"]]
    assert all(page is None or Path(page).exists() for page in drawn) and any(drawn)
    both = tmp_path / "deeper" / "both.html"
    both.parent.mkdir()
    run("--html", str(both), "--beside", str(first), only=("attention_bias",))
    text = both.read_text()
    rows = re.findall(r"<tr data-search.*?</tr>", text, re.S)
    assert len(re.findall(r'<th scope="col">', text)) == 3                  # the fields, and two models
    (row,) = [row for row in rows if "<code>hidden_act</code>" in row]
    here, there = re.findall(r"<td>(.*?)</td>", row, re.S)
    links = re.findall(r'href="([^"]+)"', there)
    assert not here.strip() and there.count("chip probe") == len(ACTS)
    assert links and all((both.parent / unquote(link)).exists() for link in links)


@pytest.mark.parametrize("text, told", [
    ("", "is no report of a sweep; give what `samesame sweep --json` wrote"),
    ('{"format": 1, "left": "a", "probes": [{"field": 3}]}', "is no report of a sweep"),
    ('{"format": 99}', "is of another version; run that sweep once more with --json"),
])
def test_what_is_to_stand_beside_and_is_no_report_is_one_sentence(run, tmp_path, text, told):
    (tmp_path / "a.json").write_text(text)
    code, _, stderr = run("--beside", str(tmp_path / "a.json"), "--html", str(tmp_path / "page.html"))
    assert code == 2 and told in " ".join(stderr.split()) and not (tmp_path / "page.html").exists()
    code, _, stderr = run("--beside", str(tmp_path / "a.json"))
    assert code == 2 and "give --html FILE too" in " ".join(stderr.split())
