"""Which class of Transformers a checkpoint is: the one that its config.json names, as `from_pretrained` of that class
would build it; where it names none, a causal language model, and where there is none of that kind, the bare model.

No head is guessed: for what is no causal language model a note says which class was built, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CAUSAL, BARE = "AutoModelForCausalLM", "AutoModel"


@dataclass(frozen=True, slots=True)
class Built:
    """What makes the model of a config: a class of Transformers or one of its Auto classes, whether that is a causal
    language model, and why this one, in words that follow its name."""

    maker: Any
    causal: bool
    why: str

    @property
    def bare(self) -> bool:
        """Whether nothing names the class."""
        return str(self.maker.__name__) == BARE

    def from_config(self, config: Any, dtype: Any) -> Any:
        """A model with the weights that Transformers starts training from."""
        make = getattr(self.maker, "from_config", None) or self.maker._from_config
        return make(config, dtype=dtype)

    def note(self, model: Any) -> str:
        return f"The model is {type(model).__name__}, {self.why}."


def built_for(package: Any, config: Any) -> Built:
    """What to build for a config."""
    wanted = [str(name) for name in getattr(config, "architectures", None) or ()]
    causal = package.MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    for name in wanted:
        found = getattr(package, name, None)
        if found is not None and is_model_of(package, found, config):
            if found is causal:
                break
            return Built(found, False, "the class that its config.json names")
    if causal is not None:
        return Built(getattr(package, CAUSAL), True, "a causal language model")
    lacks = f"which is none of {config.model_type}" if wanted and hasattr(package, wanted[0]) else (
        "which Transformers does not have")
    named = f"names {wanted[0]}, {lacks}" if wanted else "names no class"
    return Built(getattr(package, BARE), False, f"which {BARE} makes of its config.json: that {named}")


def is_model_of(package: Any, found: Any, config: Any) -> bool:
    """Whether a name of Transformers is a class of models with configs of this kind."""
    return (isinstance(found, type) and issubclass(found, package.PreTrainedModel)
            and isinstance(config, getattr(found, "config_class", None) or ()))
