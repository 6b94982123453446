"""Tests keep what they learn in a store of their own, never in the user's, and hold no machine to a speed."""

import gc
import os
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

from longest import LONGEST

os.environ.setdefault("OMP_NUM_THREADS", "1")    # two workers on two cores: more threads only wait for each other
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def no_heartbeat():
    """Lines of progress in a log are for those who wait for minutes: a busy machine changes no output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("samesame.cli.progress.EVERY", float("inf"))
        yield


@pytest.fixture(autouse=True)
def tensors_from_before_are_known(monkeypatch):
    """Each recording looks for tensors among all objects, and a process that collected the tests has millions of them.

    What was there before a test is told apart once, so that recordings go through the objects of their test only. Even
    counting what the collector leaves alone goes through it. tests/capture/test_alive.py has it as users have it."""
    from samesame.capture import alive  # not above: torch reads how many threads it may have

    gc.collect()
    alive._known.update(alive._among_objects())
    gc.freeze()
    monkeypatch.setattr(alive, "gc", SimpleNamespace(**vars(gc) | {"get_freeze_count": lambda: 1}))


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory):
    os.environ["SAMESAME_STORE"] = str(tmp_path_factory.mktemp("store") / "rules.db")


# What other tests have loaded, beside their own modules. Between ranks, the variables of all modules that may be a
# library for distributed programs are gone through, and a process that collected the tests has most of its own here.
WITHOUT_GROUPS = {
    "PIL", "_pytest", "accelerate", "anyio", "attr", "charset_normalizer", "cv2", "dill", "execnet", "filelock",
    "flatbuffers", "gguf", "google", "h11", "httpcore2", "httpx2", "huggingface_hub", "hypothesis", "jax", "jaxlib",
    "jinja2", "jsonschema", "mistral_common", "ml_dtypes", "mpmath", "networkx", "onnx", "onnx_ir", "onnxruntime",
    "onnxscript", "openai", "opt_einsum", "packaging", "pluggy", "psutil", "pydantic", "pydantic_core", "pygments",
    "pytest", "regex", "requests", "rich", "safetensors", "scipy", "selenium", "tokenizers", "tqdm", "transformers",
    "trio", "triton", "typer", "urllib3", "websocket", "yaml",
}


@pytest.fixture(scope="session")
def collected():
    """The modules of tests: all are loaded when the first one runs. Thousands of others are loaded beside them."""
    return frozenset(name for name in sys.modules if name.startswith("test_"))


@pytest.fixture(autouse=True)
def modules_without_groups_are_known(request, monkeypatch, collected):
    from samesame.capture.ranks import libraries  # not above, as before

    others = collected - {request.path.stem}
    monkeypatch.setattr(libraries, "NOT_LIBRARIES", libraries.NOT_LIBRARIES | WITHOUT_GROUPS | others)


@pytest.fixture(autouse=True)
def what_is_open_is_tried_for_a_shorter_time(request, monkeypatch):
    """What a lifted kernel leaves open is run at other sizes until its time is over, and many a test leaves something
    open. Cases that are there to be found come up in the first half of this; tests/lift/test_lift_refuted.py has it as
    users have it."""
    if request.path.parent.name == "lift" and request.path.name != "test_lift_refuted.py":
        from samesame.lift import tried  # not above, as before

        monkeypatch.setattr(tried, "SECONDS", 1.0)


# Folders whose tests ask what the verdict is, and their files that ask more. How a difference or a loss could be mended
# is what tests/test_diagnose.py, the tests of reports and these files have as users have it.
VERDICTS = {"capture", "onnx", "operators", "pairs", "promises", "refine", "relate", "soundness"}
MENDED = {"test_captured_cases.py", "test_inductor.py", "test_onnx_check.py", "test_onnx_recurrent.py",
          "test_refine.py", "test_refine_cli.py", "test_rounding.py"}


@pytest.fixture(autouse=True)
def edits_are_tried_for_a_shorter_time(request, monkeypatch):
    """The search for edits that mend a program begins when the verdict stands, and takes most of the time of a test
    whose programs differ."""
    room = request.path.parent.name
    if room in VERDICTS and request.path.name not in MENDED:
        module = import_module("samesame.refine.mending" if room == "refine" else "samesame.diagnose")
        monkeypatch.setattr(module, "_SECONDS", 0.2)  # not imported above, as before


# Of these files' parametrised tests the suite takes one of so many; the others are among the long ones.
SAMPLED = {
    "capture/test_capture_models.py": 9,
    "capture/test_family.py": 6,
    "capture/test_following.py": 3,
    "formula/test_claims.py": 16,
    "formula/test_soundness.py": 6,
    "lift/test_lift_broken.py": 24,
    "lift/test_lift_composed.py": 5,
    "lift/test_lift_divisions.py": 12,
    "lift/test_lift_kernels.py": 16,
    "lift/test_lift_contact.py": 4,
    "lift/test_lift_contracts.py": 3,
    "lift/test_lift_counting.py": 3,
    "lift/test_lift_ending.py": 3,
    "lift/test_lift_limits.py": 2,
    "lift/test_lift_small.py": 3,
    "lift/test_lift_unsigned.py": 3,
    "lift/test_lift_promised.py": 12,
    "promises/test_training.py": 6,
    "operators/test_explain.py": 2,
    "operators/test_symbolic_sizes.py": 3,
    "pairs/test_replayed.py": 12,
    "pairs/test_verdicts.py": 72,
    "promises/test_formulas.py": 48,
    "promises/test_refine_promises.py": 64,
    "promises/test_rounding.py": 48,
    "promises/test_size_regions.py": 20,
    "promises/test_state.py": 48,
    "promises/test_weights.py": 24,
    "refine/test_refine.py": 48,
    "relate/test_generalise_sizes.py": 4,
    "soundness/test_false_claims.py": 48,
    "test_ranks.py": 3,
    "test_ranks_jobs.py": 14,
    "test_jax.py": 24,
    "test_same_models.py": 14,
    "test_soundness_check.py": 5,
    "test_vllm_bugs.py": 16,
    "test_vllm_same.py": 8,
    "test_kernels_corpus.py": 3,
    "test_models.py": 3,
    "test_vllm_check.py": 2,
    "promises/test_wrong_laws.py": 4,
    "promises/test_size_cases.py": 8,
    "test_budgets.py": 3,
    "test_diagnose.py": 20,
    "relate/test_learnt_rules.py": 8,
    "sweep/test_sweep_models.py": 4,
    "optimize/test_torch_ops.py": 6,
    "optimize/test_reassociation.py": 6,
    "suite/test_suite_run.py": 4,
    "lift/test_lift_messages.py": 2,
    "lift/test_lift_pairs.py": 4,
    "capture/test_artefacts.py": 2,
    "onnx/test_onnx_check.py": 2,
    "lift/test_lift_more.py": 4,
    "test_bad_input.py": 4,
    "formula/test_laws.py": 2,
    "optimize/test_specification.py": 4,
    "optimize/test_native.py": 8,
    "capture/test_rows.py": 2,
    "promises/test_folds.py": 3,
    "promises/test_named_numbers.py": 2,
    "refine/test_comm_hooks.py": 2,
    "refine/test_reduced_to_one.py": 4,
    "refine/test_training_steps.py": 2,
    "refine/test_flat_weights.py": 2,
    "refine/test_groups.py": 2,
    "refine/test_left_as_it_was.py": 2,
    "refine/test_asked.py": 2,
    "refine/test_padded.py": 2,
    "refine/test_vanishing.py": 2,
    "refine/test_handed_on.py": 2,
    "refine/test_put_together.py": 2,
    "lift/test_lift_packed.py": 3,
    "lift/test_lift_decays.py": 2,
    "lift/test_lift_lanes.py": 2,
    "lift/test_lift_hostile.py": 2,
    "lift/test_lift_ranked.py": 2,
    "lift/test_lift_clock.py": 2,
    "lift/test_lift_loops.py": 2,
    "lift/test_lift_bfloat.py": 2,
    "lift/test_lift_divided.py": 2,
    "lift/test_lift_safe_maximum.py": 2,
    "optimize/test_printed_kernels.py": 2,
    "lift/test_lift_strangers.py": 2,
    "lift/test_lift_served.py": 2,
    "lift/test_lift_slices.py": 2,
    "refine/test_refine_constants.py": 2,
    "relate/test_halves.py": 2,
    "refine/test_norms_by_hand.py": 2,
    "refine/test_put_instead.py": 2,
    "operators/test_selected.py": 3,
    "optimize/test_triton_kernels.py": 2,
    "lift/test_lift_made.py": 2,
    "operators/test_at_places.py": 2,
    "lift/test_lift_atomics.py": 2,
    "lift/test_lift_branches.py": 2,
    "formula/test_written_out.py": 2,
    "capture/test_packed.py": 2,
    "lift/test_lift_terms.py": 2,
    "formula/test_second.py": 2,
    "promises/test_hiding.py": 2,
    "relate/test_infinities.py": 2,
    "optimize/test_segments.py": 2,
    "operators/test_general_blocks.py": 2,
    "operators/test_variable_numbers.py": 2,
    "lift/test_lift_read_again.py": 4,
    "lift/test_lift_late_maximum.py": 3,
    "lift/test_lift_runs_of_rows.py": 3,
    "lift/test_lift_groups.py": 2,
    "lift/test_lift_shifted.py": 2,
    "lift/test_lift_paged_slots.py": 2,
    "refine/test_meshes.py": 3,
    "relate/test_at_infinity.py": 3,
    "relate/test_ignored_labels.py": 2,
    "relate/test_edge_softmax.py": 2,
}


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is made while tests are collected stays, but for little: to go through it again and again takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what the sample leaves out, and what takes longest, as long, before pytest leaves out what is marked so.
    Tests that are asked for by name all run."""
    if config.option.keyword or any("::" in word for word in config.args):
        return
    here = Path(__file__).parent
    count = Counter[str]()
    for item in items:
        name = item.path.relative_to(here).as_posix() if item.path.is_relative_to(here) else ""
        if name in SAMPLED and hasattr(item, "callspec"):
            if count[name] % SAMPLED[name]:
                item.add_marker(pytest.mark.long)
            count[name] += 1
        if item.name in LONGEST.get(name, ()):
            item.add_marker(pytest.mark.long)
