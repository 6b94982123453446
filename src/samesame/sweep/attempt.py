"""One attempt: build a pair of tiny models with one field changed, run both, and check them.

Both sides load the same random weights. First both programs run as they are, outside of any capture: what fails here
is the library's own refusal, and what comes out is held against the verdict, so that neither a difference nor its
absence rests on the way in which programs are captured. Then `check` decides.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file

from samesame.capture.checkpoints.folders import (
    Checkpoint,
    example,
    fields_of,
    one_line,
    read_config,
    tiny,
    transformers,
)
from samesame.capture.checkpoints.shrinking import TOKENS, merged
from samesame.capture.checkpoints.transformers import ModelProgram, TransformersProgram
from samesame.capture.targets import load_target
from samesame.check import check
from samesame.evidence import Refused, Rung, Site, Verdict
from samesame.report.html.check import check_html
from samesame.store import Store
from samesame.sweep.outcome import NEITHER, SAMESAME, Outcome, Place
from samesame.sweep.probe import Probe

SIDES = ("left", "right")
APART = 1e-3                                # of the largest logit: far above what rounding of float32 makes
MOVED = 1e-6                                # of the largest logit: one program on the same weights moves by nothing
BEYOND = 4                                  # tokens beyond the longest window and the original range of positions
LENGTHS = ("sliding_window", "attention_chunk_size", "original_max_position_embeddings")
LEFT_TO_LIBRARY = ("transformers_version", "architectures", "dtype", "torch_dtype", "id2label", "label2id")

Logits = dict[str, torch.Tensor]


@dataclass(slots=True)
class Laboratory:
    """Where a worker makes its attempts: the two sides, what both have in common, and what it keeps between them. To
    `certify`, as on a cluster, everything is proved anew. Of the last attempt, where it has one: its `certificate`, and
    its report as a `page`, where it was to be drawn."""

    sides: tuple[Checkpoint, Checkpoint]
    seed: int
    seconds: float
    store: Store | None = None
    certify: bool = False
    certificate: Any = None
    page: str | None = None
    given: dict[str, tuple[Logits, list[Logits]]] = field(default_factory=dict)

    @property
    def shared(self) -> dict[str, Any]:
        """Config fields that both sides set alike: those of the twin. Others stay a side's own."""
        mine, yours = (side.overrides for side in self.sides)
        return {name: value for name, value in mine.items() if name in yours and yours[name] == value}

    def attempt(self, probe: Probe, drawn: bool = False) -> Outcome:
        """What comes of a probe, its report drawn or not."""
        started, self.certificate, self.page = time.monotonic(), None, None
        with TemporaryDirectory(prefix="samesame-") as place:
            found = self._attempted(probe, Path(place), drawn)
        return replace(found, seconds=time.monotonic() - started)

    def _attempted(self, probe: Probe, place: Path, drawn: bool) -> Outcome:
        try:
            folder = self.twin(probe, place)
        except Refused as error:
            side = next((name for name, side in zip(SIDES, self.sides, strict=True) if side.library == "hf"), NEITHER)
            return Outcome(probe, "refused" if side in SIDES else "unsupported", side, _said(error))
        loaded = self.loaded(folder)
        if refused := _refused(probe, loaded):
            return refused
        inputs = example_of(folder)
        with torch.inference_mode():
            ran = [_tried(lambda program=program: program(**inputs)) for program in loaded]
        if refused := _refused(probe, ran):
            return refused
        self.free(loaded)
        moved = self.moved(probe, folder, ran)
        found = self.decided(probe, loaded, inputs, ran, drawn)
        return replace(found, moved=moved, config=config_for_script(folder), tokens=inputs["input_ids"].shape[1])

    @contextmanager
    def built(self, probe: Probe) -> Iterator[tuple[list[Any], Logits]]:
        """Both programs of a probe, and what they run on. Raises Refused where a side does not take it."""
        with TemporaryDirectory(prefix="samesame-") as place:
            folder = self.twin(probe, Path(place))
            loaded = self.loaded(folder)
            if refused := next((found for found in loaded if isinstance(found, Refused)), None):
                raise refused
            yield loaded, example_of(folder)

    def twin(self, probe: Probe, place: Path) -> Path:
        return tiny(self.sides[0].path, place, merged(self.shared, probe.fields), seed=self.seed)

    def loaded(self, folder: Path) -> list[Any]:
        """Both programs, or what their library says against it. What a side overrides by itself stays with it."""
        return [
            _tried(lambda side=side: causal(load_target(replace(side.in_folder(folder), overrides=self.own(side)))))
            for side in self.sides
        ]

    def own(self, side: Checkpoint) -> dict[str, Any]:
        return {name: value for name, value in side.overrides.items() if name not in self.shared}

    @staticmethod
    def free(programs: list[Any]) -> None:
        """Programs may keep what their last run was given, made outside of autograd; a capture starts anew."""
        for program in programs:
            if isinstance(getattr(program, "written", None), dict):
                program.written = {}

    def moved(self, probe: Probe, folder: Path, ran: list[Logits]) -> tuple[bool | None, bool | None]:
        """For each side, whether its logits are others than those of the probe's companions alone; None where the
        weights are others too, where a side does not take those alone, and where nothing is changed."""
        if not probe.field:
            return None, None
        alone = probe.without
        if alone.key not in self.given:
            self.given[alone.key] = self.run_alone(alone)
        weights, before = self.given[alone.key]
        if not before or not _equal(weights, load_file(folder / "model.safetensors")):
            return None, None
        pair = [any_apart(a, b, MOVED) for a, b in zip(before, ran, strict=True)]
        return pair[0], pair[1]

    def run_alone(self, probe: Probe) -> tuple[Logits, list[Logits]]:
        """Weights and logits of both sides; no logits where one does not take the config."""
        with TemporaryDirectory(prefix="samesame-") as place:
            try:
                folder = self.twin(probe, Path(place))
            except Refused:
                return {}, []
            loaded = self.loaded(folder)
            inputs = example_of(folder)
            with torch.inference_mode():
                ran = [_tried(lambda program=program: program(**inputs)) for program in loaded]
            failed = any(isinstance(found, Refused) for found in (*loaded, *ran))
            return load_file(folder / "model.safetensors"), [] if failed else ran

    def decided(
        self, probe: Probe, programs: list[Any], inputs: Logits, ran: list[Logits], drawn: bool = False
    ) -> Outcome:
        """The verdict of `check`, held against what both programs computed by themselves."""
        apart = any_apart(ran[0], ran[1], APART)
        broken = [name for name, logits in zip(SIDES, ran, strict=True) if not all_finite(logits)]
        if len(broken) == len(SIDES):
            return Outcome(probe, "undecided", SAMESAME, "both sides' logits are not numbers")
        direct = None if broken else largest_difference(*ran)
        by, what = (broken[0], "its logits are not numbers") if broken else ("", "by their values alone")
        try:
            verdict = check(programs[0], programs[1], inputs, seed=self.seed, timeout=self.seconds, store=self.store,
                            certify=self.certify, picture=drawn)
            self.certificate = verdict.certificate
        except Refused as error:
            if apart:
                return Outcome(probe, "different", by, f"{what}; {error}", evidence="values", direct_error=direct)
            return Outcome(probe, "unsupported", SAMESAME, _said(error), direct_error=direct)
        if drawn:
            verdict.left, verdict.right = (f"{side.text}, {probe.spoken}" for side in self.sides)
            self.page = check_html(verdict)
        return outcome_of(probe, verdict, direct, apart)


def outcome_of(probe: Probe, verdict: Verdict, direct: float | None, apart: bool) -> Outcome:
    """What a verdict says of a probe, given whether the two programs differ where they run by themselves."""
    found = Outcome(probe, verdict.verdict, evidence=str(verdict.evidence), direct_error=direct)
    if verdict.verdict == "same" and apart:
        return replace(found, outcome="undecided", by=SAMESAME, message=(
            f"captured, the two are the same; as they run by themselves, their logits differ by {_number(direct)}"
        ))
    if verdict.verdict == "undecided" and apart:
        return replace(found, outcome="different", evidence="values", message="by their values alone")
    if verdict.verdict == "undecided":
        return replace(found, by=SAMESAME, message=" ".join(verdict.notes[-2:]))
    if verdict.verdict == "same":
        return found
    effect, divergence = verdict.effect, verdict.divergence
    alike = f"as they run by themselves, their logits differ by {_number(direct)} only"
    note = "" if apart else f"they differ at {verdict.sizes.apart}" if verdict.sizes.apart else alike
    return replace(
        found,
        message=note,
        outputs=tuple(root.name for root in verdict.roots if root.evidence.rung is Rung.REFUTED),
        max_error=effect.max_error if effect else None,
        mean_error=effect.mean_error if effect else None,
        max_log_prob_change=effect.max_log_prob_change if effect else None,
        argmax_changed=effect.argmax_changed if effect else None,
        argmax_total=effect.argmax_total if effect else None,
        left=place_of(divergence.left if divergence else None),
        right=place_of(divergence.right if divergence else None),
        edits=tuple(edit.description for edit in verdict.diagnosis),
    )


def _number(error: float | None) -> str:
    return "what is no number" if error is None else f"{error:.3g}"


def place_of(site: Site | None) -> Place | None:
    if site is None:
        return None
    origin = site.origin
    return Place(f"{origin.file}:{origin.line}" if origin.file else "", origin.code, origin.module, site.operator)


# ------------------------------------------------------------------------------------------------------------- refusals


def _tried(make: Any) -> Any:
    """What a library returns, or a Refused with what it says instead."""
    try:
        return make()
    except Refused as error:
        return error
    except Exception as error:
        return Refused(f"{type(error).__name__}: {one_line(error)}")


def _refused(probe: Probe, found: list[Any]) -> Outcome | None:
    """The outcome where one side, or both, did not take the config."""
    said = {name: _said(it) for name, it in zip(SIDES, found, strict=True) if isinstance(it, Refused)}
    if not said:
        return None
    if len(said) == 1:
        side, message = said.popitem()
        return Outcome(probe, "refused", side, message)
    return Outcome(probe, "unsupported", NEITHER, "; ".join(said.values()))


def _said(error: BaseException) -> str:
    """A library's own words, without ours around them; of several lines the first that says something."""
    text = str(error)
    for words in ("cannot be loaded by vLLM: ", "cannot be loaded by Transformers: ", "refuses the config: "):
        _, found, rest = text.partition(words)
        text = rest if found else text
    more = [line.strip() for line in str(error.__cause__ or "").splitlines() if line.strip()]
    return f"{text} {more[1]}" if text.endswith(":") and len(more) > 1 else text


# --------------------------------------------------------------------------------------------------------------- logits


def causal(program: Any) -> Any:
    """The program, if it is a language model. Raises Refused for other models of Transformers."""
    if isinstance(program, ModelProgram) and not isinstance(program, TransformersProgram):
        raise Refused(f"a sweep is of causal language models, and this is "
                      f"{type(program.model).__name__}; compare two settings of it with samesame check")
    return program


def example_of(folder: Path) -> Logits:
    """Input tokens, more than any window and than the original range of positions."""
    config = read_config(folder)
    longest = max(lengths_in(config), default=0)
    return example(config.get("vocab_size") or 3, tokens=max(TOKENS, longest + BEYOND))


def lengths_in(fields: Mapping[str, Any]) -> list[int]:
    """Windows and original ranges of positions, wherever they stand in a config."""
    found = [value for name, value in fields.items() if name in LENGTHS and isinstance(value, int)]
    for value in fields.values():
        if isinstance(value, Mapping):
            found += lengths_in(value)
    return found


def largest_difference(left: Logits, right: Logits) -> float:
    return max(float((left[name].double() - right[name].double()).abs().max()) for name in left)


def any_apart(left: Logits, right: Logits, tolerance: float) -> bool:
    """Whether an output differs by more than this share of its largest magnitude, or is no number on one side."""
    return any(
        not float((left[name] - right[name]).abs().max()) <= tolerance * float(left[name].abs().max())
        and not torch.equal(left[name], right[name])
        for name in left
    )


def all_finite(logits: Logits) -> bool:
    return all(bool(tensor.isfinite().all()) for tensor in logits.values())


def _equal(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def config_for_script(folder: Path) -> dict[str, Any]:
    """The fields of a twin's config that are not its class's defaults."""
    package = transformers()
    fields = json.loads((folder / "config.json").read_text())
    kind = fields_of(package.CONFIG_MAPPING[fields["model_type"]]())
    return {
        name: value
        for name, value in fields.items()
        if name not in LEFT_TO_LIBRARY and (name == "model_type" or kind.get(name, ...) != value)
    }
