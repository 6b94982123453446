"""Every text architecture that vLLM and Transformers share: tiny twins of the config classes' defaults, checked.

Each architecture is one `samesame check hf:DIR vllm:DIR --tiny`, in a process of its own that a server forks after the
libraries are loaded. What was done is kept in RECORD, a file of JSON lines, and not done again; the table is made of
it. `--fault` changes one field on vLLM's side alone (an epsilon, an activation, a scale), which has to come out
different. Takes one to two hours on two cores.

    python benchmarks/vllm_architectures.py RECORD [--fault] [--limit S] [MODEL_TYPE…]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samesame.versions import versions_of_packages

LOADED = ("torch", "transformers", "vllm", "samesame.check", "samesame.capture.targets")
OUTCOMES = ("same", "different", "undecided", "refused", "no answer", "defect")
# Options for vLLM where its defaults are refused: its rotary kernel for a CPU turns one head of several (see
# docs/vllm.md), and without it the rest of the model can be compared.
ASKED = {kind: 'custom_ops=["none"]' for kind in ("deepseek_v2", "deepseek_v3", "glm4_moe_lite", "lfm2")}
# What vLLM alone is told, where the architecture's config has the field: the first that it has.
FAULTS: dict[str, Any] = {
    "num_experts_per_tok": 1,
    "rms_norm_eps": 1e-2,
    "layer_norm_eps": 1e-2,
    "layer_norm_epsilon": 1e-2,
    "norm_eps": 1e-2,
    "norm_epsilon": 1e-2,
}


def shared() -> dict[str, str]:
    """The architectures that both libraries have a model of, by the model type of the config; one type for each."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as theirs
    from vllm.model_executor.models.registry import _TEXT_GENERATION_MODELS as served

    last = {name: kind for kind, name in theirs.items() if name in served}
    return {kind: name for name, kind in sorted(last.items(), key=lambda pair: pair[1])}


def attempt(kind: str, architecture: str, fault: bool, seconds: float, told: Any) -> None:
    """Check one architecture and send what came of it."""
    import torch

    from samesame.capture.targets import load_target, tiny_twins
    from samesame.check import check
    from samesame.evidence import Refused

    torch.set_num_threads(1)
    found: dict[str, Any] = {"outcome": "defect", "stage": "twin", "words": ""}
    started = time.monotonic()
    with TemporaryDirectory(prefix="samesame-") as place:
        (Path(place) / "config.json").write_text(json.dumps({"model_type": kind, "architectures": [architecture]}))
        try:
            options = ([ASKED[kind]] if kind in ASKED else []) + ([planted(kind)] if fault else [])
            query = "?" + "&".join(options) if options else ""
            with tiny_twins([f"hf:{place}", f"vllm:{place}{query}"], 0) as twins:
                programs = []
                for twin in twins:
                    found["stage"] = twin.library
                    programs.append(load_target(twin))
                found["stage"] = "check"
                verdict = check(*programs, None, timeout=seconds)
            edits = [edit.description for edit in verdict.diagnosis]
            error = verdict.effect.max_error if verdict.effect else None
            found |= {"outcome": verdict.verdict, "evidence": str(verdict.evidence), "edits": edits, "error": error}
            found["words"] = " · ".join(verdict.notes[-3:]) if verdict.verdict != "same" else ""
            site = verdict.divergence.right if verdict.divergence else None
            if site is not None:
                found["where"] = f"{site.operator} {site.origin.file}:{site.origin.line} {site.origin.module}"
        except Refused as error:
            found |= {"outcome": "refused", "words": str(error).replace(place, "DIR")}
        except BaseException as error:
            import traceback

            found |= {"words": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()[-1500:]}
    told.send(found | {"seconds": round(time.monotonic() - started, 1)})


def planted(kind: str) -> str:
    """The option that makes vLLM's side another model. Raises Refused where no field is known to do so."""
    from transformers import CONFIG_MAPPING

    from samesame.evidence import Refused

    fields = CONFIG_MAPPING[kind]().to_dict()
    for name, value in FAULTS.items():
        if fields.get(name) is not None:
            return f"{name}={value}"
    raise Refused("no field to plant a fault in")


def judged(kind: str, architecture: str, fault: bool, limit: float) -> dict[str, Any]:
    """What came of an architecture within the limit."""
    context = multiprocessing.get_context("forkserver")
    mine, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=attempt, args=(kind, architecture, fault, limit * 2 / 3, theirs))
    worker.start()
    theirs.close()
    found: dict[str, Any] = {"outcome": "no answer", "stage": "", "words": f"nothing within {limit:.0f} s"}
    try:
        if mine.poll(limit):
            found = mine.recv()
    except EOFError:
        found["words"] = "the process ended without an answer"
    worker.join(2)
    worker.kill()
    return {"kind": kind, "architecture": architecture} | found


def table(rows: list[dict[str, Any]]) -> str:
    counts = Counter(row["outcome"] for row in rows)
    lines = [", ".join(f"{counts[name]} {name}" for name in OUTCOMES) + f" of {len(rows)}", ""]
    lines += ["| model type | outcome | evidence or reason | seconds |", "|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: (OUTCOMES.index(row["outcome"]), row["kind"])):
        words = row.get("evidence", "") if row["outcome"] == "same" else row["words"] or row.get("where", "")
        words = " ".join(words.replace("|", "/").split())
        lines.append(f"| {row['kind']} | {row['outcome']} | {words} | {row.get('seconds', '')} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("kinds", nargs="*", metavar="MODEL_TYPE")
    parser.add_argument("--fault", action="store_true", help="change one field on vLLM's side alone")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each")
    given = parser.parse_args()
    rows = {}
    if given.record.exists():
        rows = {row["kind"]: row for row in map(json.loads, given.record.read_text().splitlines())}
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(LOADED))
    for kind, architecture in shared().items():
        if (given.kinds and kind not in given.kinds) or kind in rows:
            continue
        rows[kind] = judged(kind, architecture, given.fault, given.limit)
        with given.record.open("a") as file:
            file.write(json.dumps(rows[kind]) + "\n")
    print(table(list(rows.values())))
    print("\n" + ", ".join(f"{name} {version}" for name, version in versions_of_packages().items()))


if __name__ == "__main__":
    main()
