# DIFFERENT
"""GPT-Neo in Flax's manner: a tree of parameters with kernels [in, out], global and local layers taking turns."""
import torch
from torch import nn
from transformers import GPTNeoConfig, GPTNeoForCausalLM

config = GPTNeoConfig(
    vocab_size=55, hidden_size=32, num_layers=2, attention_types=[[["global", "local"], 1]], num_heads=4, window_size=4,
    max_position_embeddings=32, intermediate_size=64, use_cache=False, bos_token_id=1, eos_token_id=2,
    initializer_range=0.2,
)
hf = GPTNeoForCausalLM(config).eval()


def left(input_ids):
    return hf(input_ids=input_ids).logits


def tree(model):
    """PyTorch's flat names as nested dicts, {'h': {'0': {'attn': …}}}; weights of Linear become kernels."""
    root = {}
    linear = {n for n, m in model.named_modules() if isinstance(m, nn.Linear)}
    for name, p in model.transformer.named_parameters():
        *path, leaf = name.split(".")
        at = root
        for key in path:
            at = at.setdefault(key, {})
        if "transformer." + ".".join(path) in linear and leaf == "weight":
            at["kernel"] = nn.Parameter(p.detach().T.clone())
        else:
            at[leaf] = p
    return root


params = tree(hf)


def dense(p, x):
    y = x @ p["kernel"]
    return y + p["bias"] if "bias" in p else y


def layer_norm(p, x, eps=config.layer_norm_epsilon):
    x = x - x.mean(-1, keepdim=True)
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * p["weight"] + p["bias"]


def gelu_new(x):
    return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x.pow(3))))


def dot_product_attention(q, k, v, mask):
    q = q / q.shape[-1] ** 0.5
    logits = torch.einsum("...qhd,...khd->...hqk", q, k)
    weights = logits.masked_fill(~mask, torch.finfo(q.dtype).min).softmax(-1)
    return torch.einsum("...hqk,...khd->...qhd", weights, v)


def attention(p, x, kind):
    B, T, C = x.shape
    q, k, v = (dense(p[n], x).view(B, T, config.num_heads, -1) for n in ("q_proj", "k_proj", "v_proj"))
    i = torch.arange(T)
    mask = i[:, None] >= i[None, :]
    if kind == "local":
        mask = mask & (i[:, None] - i[None, :] < config.window_size)
    return dense(p["out_proj"], dot_product_attention(q, k, v, mask).reshape(B, T, C))


def right(input_ids):
    x = params["wte"]["weight"][input_ids] + params["wpe"]["weight"][: input_ids.shape[1]]
    for i, kind in enumerate(config.attention_layers):
        p = params["h"][str(i)]
        x = x + attention(p["attn"]["attention"], layer_norm(p["ln_1"], x), kind)
        h = layer_norm(p["ln_2"], x)
        x = x + dense(p["mlp"]["c_proj"], gelu_new(dense(p["mlp"]["c_fc"], h)))
    return layer_norm(params["ln_f"], x) @ params["wte"]["weight"].T


def inputs():
    return (torch.randint(3, 55, (2, 9)),)
