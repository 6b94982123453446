# EQUAL: Beam search bookkeeping: flat topk over beams*vocab, cache reorder with index_select vs gather with 3-d indices and one-hot reordering
import torch

B, K, V, T, D = 2, 3, 7, 4, 5


def left(logits, scores, tokens, cache):
    # logits [B*K, V], scores [B, K], tokens [B*K, T], cache [B*K, T, D]
    logp = torch.log_softmax(logits, -1) + scores.view(-1, 1)
    flat = logp.view(B, K * V)
    best, index = torch.topk(flat, K, dim=1)
    beam = torch.div(index, V, rounding_mode="floor")
    token = index % V
    origin = (beam + torch.arange(B).unsqueeze(1) * K).view(-1)
    tokens = torch.cat([tokens.index_select(0, origin), token.view(-1, 1)], 1)
    return best, tokens, cache.index_select(0, origin)


def right(logits, scores, tokens, cache):
    logits = logits.reshape(B, K, V)
    logp = logits - logits.logsumexp(-1, keepdim=True) + scores[..., None]
    best, index = logp.flatten(1).topk(K)
    beam, token = index // V, index.remainder(V)
    tokens = tokens.view(B, K, T).gather(1, beam[..., None].expand(B, K, T))
    tokens = torch.cat([tokens, token[..., None]], -1).flatten(0, 1)
    pick = torch.nn.functional.one_hot(beam, K).to(cache.dtype)
    cache = torch.einsum("bnk,bktd->bntd", pick, cache.view(B, K, T, D)).flatten(0, 1)
    return best, tokens, cache


def inputs():
    return (
        torch.randn(B * K, V),
        torch.randn(B, K),
        torch.randint(0, V, (B * K, T)),
        torch.randn(B * K, T, D),
    )
