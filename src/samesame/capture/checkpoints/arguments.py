"""Example inputs of a model of Transformers: what its forward takes, in the sizes that its config says.

Each argument has rows: the fields that a config must have, and the sizes of one example, of these fields. The first row
whose fields are there is taken. A field of a nested config (a vision tower's image_size) counts as the config's own.
An argument that no row knows is left out; if the model then does not run, the user is asked for inputs. So are images
of any size that come as one row of patches: how many patches an image has stands in a tensor, which decides shapes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from samesame.capture.checkpoints.folders import BATCH, example, one_line
from samesame.capture.checkpoints.shrinking import TOKENS
from samesame.evidence import Refused

# Of audio; of sound of which the config does not say how frames are made; of images of any size.
FRAMES, SAMPLES, PIXELS = 12, 4096, 64
Row = tuple[tuple[str, ...], Callable[..., tuple[int, ...]]]


def samples(kernels: Any, strides: Any) -> tuple[int]:
    """So many samples of sound that convolutions one after another make FRAMES frames of them."""
    length = FRAMES
    for kernel, stride in reversed(list(zip(kernels, strides, strict=True))):
        length = (length - 1) * stride + kernel
    return (length,)


def sides(image: Any, patch: Any = 1) -> tuple[int, int]:
    """Height and width, however a config says them."""
    if isinstance(image, dict):
        image = (image["height"], image["width"])
    height, width = image if isinstance(image, tuple | list) else (image, image)
    return height, width


REAL: dict[str, tuple[Row, ...]] = {
    "pixel_values": (
        (("num_frames", "num_channels", "image_size"), lambda t, c, image: (t, c, *sides(image))),
        (("num_channels", "image_size"), lambda c, image: (c, *sides(image))),
        (("image_size",), lambda image: (3, *sides(image))),
        (("num_channels",), lambda c: (c, PIXELS, PIXELS)),
        ((), lambda: (3, PIXELS, PIXELS)),
    ),
    "input_features": (
        (("num_mel_bins", "max_source_positions"), lambda bins, n: (bins, 2 * n)),
        (("input_feat_per_channel",), lambda n: (4 * FRAMES, n)),
        (("feature_projection_input_dim",), lambda n: (FRAMES, n)),
    ),
    "input_values": (
        (("conv_kernel", "conv_stride"), samples),
        (("max_length", "num_mel_bins"), lambda t, bins: (t, bins)),
        (("audio_channels", "upsampling_ratios"), lambda c, ratios: (c, FRAMES * math.prod(ratios))),
        ((), lambda: (SAMPLES,)),
    ),
    "past_values": (
        (("context_length", "num_input_channels"), lambda t, c: (t, c)),
    ),
}
GRIDS = {"pixel_values": "image_grid_thw"}  # what says how many patches each image has
WORDS = ("input_ids", "decoder_input_ids")
IMAGE_TOKENS = ("image_token_id", "image_token_index")
END = "ForSequenceClassification"           # heads that read where a text ends


def arguments(model: Any, label: str) -> dict[str, torch.Tensor]:
    """Example inputs on which the model runs. Raises Refused where it does not run on what can be made."""
    try:
        with torch.no_grad():
            found = dict(made(model))
            model(**found)
    except Exception as error:
        raise Refused(f"{label} is {type(model).__name__}, for which no example inputs could be made "
                      f"({one_line(error)}); give them: --inputs TARGET") from error
    return found


def made(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """What the model's forward takes and the tables know, by name."""
    takes = inspect.signature(model.forward).parameters
    generator = torch.Generator().manual_seed(1)
    images = None
    for name, rows in REAL.items():
        shape = next((sizes for fields, size in rows if (sizes := said(model.config, fields, size)) is not None), None)
        if name in takes and shape is not None and GRIDS.get(name) not in takes:
            real = torch.randn(BATCH, *shape, generator=generator)
            images = real if name == "pixel_values" else images
            yield name, real
    for seed, name in enumerate(WORDS, 1):
        if name in takes and (name == "input_ids" or model.config.is_encoder_decoder):
            ids = words(model, seed)
            yield name, ids if name != "input_ids" or images is None else with_images(model, ids, images)


def said(config: Any, fields: tuple[str, ...], sizes: Callable[..., tuple[int, ...]]) -> tuple[int, ...] | None:
    """The sizes of a row; None where the config lacks one of its fields."""
    values = [field(config, name) for name in fields]
    return None if any(value is None for value in values) else sizes(*values)


def field(config: Any, name: str) -> Any:
    """What a config says, or the first nested one that does."""
    inner = (getattr(config, each, None) for each in config.sub_configs)
    found = getattr(config, name, None)
    return found if found is not None else next(
        (value for each in inner if each is not None and (value := field(each, name)) is not None), None)


def words(model: Any, seed: int) -> torch.Tensor:
    """Tokens, of which none stands for an image; the last one ends the text where a head asks for that."""
    config = model.config
    ids = example(config.get_text_config().vocab_size, seed=seed)["input_ids"]
    for name in special(config):
        ids[ids == getattr(config, name)] = 3
    if type(model).__name__.endswith(END) and isinstance(end := config.eos_token_id, int):
        ids[:, -1] = end
    return ids


def special(config: Any) -> list[str]:
    """The fields that say which tokens stand for something else than text."""
    return [name for name in vars(config)
            if name.endswith(("_token_id", "_token_index")) and isinstance(getattr(config, name), int)]


def with_images(model: Any, ids: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """The tokens after as many as stand for one image, if this model has such tokens."""
    token = next((n for name in IMAGE_TOKENS if (n := getattr(model.config, name, None)) is not None), None)
    if token is None or not hasattr(model, "get_image_features"):
        return ids
    features = model.get_image_features(pixel_values=images)
    features = getattr(features, "pooler_output", features)
    count = sum(each.shape[:-1].numel() for each in features) // len(ids)
    return torch.cat((ids[:, :1], ids.new_full((len(ids), count), token), ids[:, 1:TOKENS - 4]), 1)
