"""BERT's embedding layer in one kernel: word, position and token-type rows are gathered, added and layer-normalised."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def bert_embed_kernel(
    input_ids, token_type_ids, word, pos, typ, gamma, beta, out,
    S, D, past, eps,
    BLOCK_D: tl.constexpr,
):
    token = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    keep = d < D
    i = tl.load(input_ids + token).to(tl.int64)
    t = tl.load(token_type_ids + token).to(tl.int64)
    s = token % S + past

    e = tl.load(word + i * D + d, mask=keep, other=0.0).to(tl.float32)
    e += tl.load(typ + t * D + d, mask=keep, other=0.0).to(tl.float32)
    e += tl.load(pos + s * D + d, mask=keep, other=0.0).to(tl.float32)

    mu = tl.sum(e, 0) / D
    centred = tl.where(keep, e - mu, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / D + eps)
    g = tl.load(gamma + d, mask=keep, other=0.0).to(tl.float32)
    b = tl.load(beta + d, mask=keep, other=0.0).to(tl.float32)
    tl.store(out + token * D + d, centred * rstd * g + b, mask=keep)


def launch(B=2, S=9, D=48, V=100, P=64):
    input_ids = torch.randint(0, V, (B, S), device="cuda")
    token_type_ids = torch.randint(0, 2, (B, S), device="cuda")
    word = torch.randn(V, D, device="cuda")
    pos = torch.randn(P, D, device="cuda")
    typ = torch.randn(2, D, device="cuda")
    gamma = torch.randn(D, device="cuda")
    beta = torch.randn(D, device="cuda")
    out = torch.empty(B, S, D, device="cuda")
    past = 2          # RoBERTa counts positions from padding_idx + 1
    bert_embed_kernel[(B * S,)](input_ids, token_type_ids, word, pos, typ, gamma, beta, out,
                                S, D, past, 1e-12, BLOCK_D=triton.next_power_of_2(D))
    return out


def reference(input_ids, token_type_ids, word, pos, typ, gamma, beta):
    positions = torch.arange(input_ids.shape[1], device=input_ids.device) + 2
    e = F.embedding(input_ids, word) + F.embedding(positions, pos) + F.embedding(token_type_ids, typ)
    return F.layer_norm(e, (word.shape[1],), gamma, beta, eps=1e-12)

TRUTH = "verified"
