import torch


def expanded(q_nope, q_rope, latent, k_rope, w_uk, w_uv, w_o):
    """DeepSeek's latent attention as it is written for training: keys and values are made for every head."""
    batch, heads, nope = q_nope.shape
    rope = q_rope.shape[-1]
    k_nope = torch.einsum("btr,hnr->bhtn", latent, w_uk)
    v = torch.einsum("btr,hvr->bhtv", latent, w_uv)
    k = torch.cat([k_nope, k_rope.unsqueeze(1).expand(-1, heads, -1, -1)], dim=-1)
    q = torch.cat([q_nope, q_rope], dim=-1).unsqueeze(2)
    scores = (q @ k.transpose(2, 3)) / (nope + rope) ** 0.5
    context = torch.softmax(scores, dim=-1) @ v
    return context.squeeze(2).flatten(1) @ w_o.T


def absorbed(q_nope, q_rope, latent, k_rope, w_uk, w_uv, w_o):
    """As it is served: the query goes into the latent space, and the cache is attended as it lies."""
    heads, nope, rank = w_uk.shape
    width = w_uv.shape[1]
    q_latent = torch.bmm(q_nope.transpose(0, 1), w_uk).transpose(0, 1)
    query = torch.cat([q_latent, q_rope], dim=-1)
    cache = torch.cat([latent, k_rope], dim=-1)
    scale = (nope + q_rope.shape[-1]) ** -0.5
    weights = (torch.bmm(query, cache.transpose(1, 2)) * scale).softmax(dim=-1)
    mixed = torch.bmm(weights, cache)[..., :rank]
    per_head = w_o.view(-1, heads, width)
    fused = torch.einsum("ohv,hvr->ohr", per_head, w_uv)
    return torch.einsum("bhr,ohr->bo", mixed, fused)


def example(B=2, T=5, H=3, N=4, R=2, L=7, V=6, O=8):
    return (torch.randn(B, H, N), torch.randn(B, H, R), torch.randn(B, T, L), torch.randn(B, T, R),
            torch.randn(H, N, L), torch.randn(H, V, L), torch.randn(O, H * V))


def inputs():
    return example()
