import torch
import triton
import triton.language as tl


# DLRM dot interaction: [dense | strictly lower triangle of F F^T, packed], F = (dense, embeddings)
@triton.jit
def dot_interaction_kernel(feat_ptr, out_ptr, n_feat, dim, out_width, BLOCK_F: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK_F)
    k = tl.arange(0, BLOCK_D)
    base = feat_ptr + b * n_feat * dim
    acc = tl.zeros((BLOCK_F, BLOCK_F), tl.float32)
    for d0 in range(0, dim, BLOCK_D):
        d = d0 + k
        f = tl.load(base + i[:, None] * dim + d[None, :], mask=(i < n_feat)[:, None] & (d < dim)[None, :], other=0.0)
        acc += tl.dot(f, tl.trans(f))
        dense = tl.load(base + d, mask=d < dim, other=0.0)
        tl.store(out_ptr + b * out_width + d, dense, mask=d < dim)
    r = i[:, None]
    c = i[None, :]
    tl.store(out_ptr + b * out_width + dim + r * (r - 1) // 2 + c, acc, mask=(r < n_feat) & (c < r))


def launch(batch=5, n_feat=11, dim=40):
    feats = torch.randn(batch, n_feat, dim, device="cuda")
    width = dim + n_feat * (n_feat - 1) // 2
    out = torch.empty(batch, width, device="cuda")
    dot_interaction_kernel[(batch,)](feats, out, n_feat, dim, width, BLOCK_F=16, BLOCK_D=16)
    return out


def reference(feats):
    z = torch.bmm(feats, feats.transpose(1, 2))
    li, lj = torch.tril_indices(feats.shape[1], feats.shape[1], offset=-1)
    return torch.cat([feats[:, 0], z[:, li, lj]], dim=1)


TRUTH = "broken"
