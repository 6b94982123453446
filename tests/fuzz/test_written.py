"""Programs written by a language model: a local server speaks the protocol, answers well and badly, and is never needed
twice."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch

from samesame.evidence import SamesameError
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.campaign import Settings, fuzz
from samesame.fuzz.generators.written import FILE, Writer, program_in
from samesame.fuzz.judge import silent
from samesame.fuzz.own import from_text, judge_written
from samesame.fuzz.swaps import swapped

GOOD = """
class Model(torch.nn.Module):
    def forward(self, x, y):
        if x.shape[0] + 1 > 2 and not self.training:
            x = -x
        return (x @ y) * 2 + y[:2] / 3, (x ** 2 + 1) ** 0.5, ~(x > 0)

def inputs():
    return [torch.ones(2, 3), torch.ones(3, 3)]
"""


@pytest.fixture
def server():
    """Answers one after the other from `answers`; the last one again and again."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            running.asked += 1
            answer = running.answers.pop(0) if len(running.answers) > 1 else running.answers[0]
            data = json.dumps({
                "id": "1", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}],
            }).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.asked, running.answers = 0, [f"Here you are:\n```python\n{GOOD}\n```"]
    running.url = f"http://127.0.0.1:{running.server_port}/v1"
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()


def test_an_answer_is_kept_and_not_asked_for_again(server, tmp_path):
    pytest.importorskip("openai")
    assert Writer(server.url, "m", tmp_path).program(0).strip() == GOOD.strip()
    _, (_, row) = map(json.loads, (tmp_path / FILE).read_text().splitlines())
    assert row["model"] == "m" and "Topic:" in row["prompt"] and "Here you are" in row["answer"]
    assert Writer("http://127.0.0.1:9/v1", "m", tmp_path).program(0).strip() == GOOD.strip()
    assert server.asked == 1


def test_prose_is_counted_and_given_up_in_the_end(server, tmp_path):
    pytest.importorskip("openai")
    server.answers = ["I would rather write a poem.", "```python\nclass Model(\n```", "```python\nimport os\n```"]
    writer = Writer(server.url, "m", tmp_path)
    assert writer.program(0) is None and writer.program(1) is None
    with pytest.raises(SamesameError, match="answered 3 times without a program; name a model that writes Python"):
        writer.program(2)


def test_a_server_that_does_not_answer_is_one_sentence(tmp_path):
    pytest.importorskip("openai")
    with pytest.raises(SamesameError, match=r"no answer from http://127\.0\.0\.1:9/v1"):
        Writer("http://127.0.0.1:9/v1", "m", tmp_path).program(0)


@pytest.mark.long
def test_a_campaign_of_written_programs(server, tmp_path):
    pytest.importorskip("openai")
    bad = "```python\nclass Model(torch.nn.Module):\n    pass\ndef inputs():\n    raise ValueError\n```"
    server.answers = [server.answers[0], bad, "prose", server.answers[0]]
    settings = Settings(("aot_eager",), {"written": 1.0}, cases=4, bisect=False, llm=server.url, model="m")
    progress = fuzz(tmp_path / "found", settings)
    assert progress.statuses == {"agrees": 2, "invalid": 2} and not progress.findings
    with pytest.raises(SamesameError, match="needs a language model; give --llm URL"):
        fuzz(tmp_path / "other", Settings(("aot_eager",), {"written": 1.0}))


@pytest.mark.parametrize("answer, found", [(f"```\n{GOOD}```", True), (GOOD, True), ("no code", False), ("", False)])
def test_the_program_in_an_answer(answer, found):
    assert (program_in(answer) is not None) == found


def test_swaps_change_operators_in_forward_alone_and_no_result():
    text, count = swapped(GOOD)
    assert count == 9 and text.count("_swapped('add'") == 2 and "x.shape[0] + 1 > 2" in text
    plain, other = from_text(GOOD), from_text(text)
    results = zip(plain.function()(*plain.make_inputs()), other.function()(*other.make_inputs()), strict=True)
    assert all(torch.equal(a, b) for a, b in results)
    assert judge_written(GOOD, BACKENDS["aot_eager"], True, silent).status == "agrees"
