"""RotatE scores of knowledge-graph triples: the head entity is rotated by the relation's phases and its distance to the tail is taken off a margin."""
import torch
import triton
import triton.language as tl


@triton.jit
def rotate_score_kernel(ent, rel, head_idx, rel_idx, tail_idx, score, n_triples, D, gamma, phase_scale,
                        BLOCK_B: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    bm = b < n_triples
    h = tl.load(head_idx + b, mask=bm, other=0)
    r = tl.load(rel_idx + b, mask=bm, other=0)
    t = tl.load(tail_idx + b, mask=bm, other=0)

    dist = tl.zeros([BLOCK_B], dtype=tl.float32)
    for start in range(0, D, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        m = bm[:, None] & (d[None, :] < D)
        re_h = tl.load(ent + h[:, None] * (2 * D) + d[None, :], mask=m, other=0.0)
        im_h = tl.load(ent + h[:, None] * (2 * D) + D + d[None, :], mask=m, other=0.0)
        re_t = tl.load(ent + t[:, None] * (2 * D) + d[None, :], mask=m, other=0.0)
        im_t = tl.load(ent + t[:, None] * (2 * D) + D + d[None, :], mask=m, other=0.0)
        theta = tl.load(rel + r[:, None] * D + d[None, :], mask=m, other=0.0) * phase_scale
        cos, sin = tl.cos(theta), tl.sin(theta)
        re = re_h * cos - im_h * sin - re_t
        im = re_h * sin + im_h * cos - im_t
        dist += tl.sum(tl.sqrt(re * re + im * im), axis=1)
    tl.store(score + b, gamma - dist, mask=bm)


class RotatE:
    gamma = 12.0

    def __init__(self, ent, rel):
        self.ent, self.rel, self.dim = ent, rel, rel.shape[1]

    def score(self, heads, rels, tails):
        out = torch.empty(heads.shape[0], device=self.ent.device, dtype=self.ent.dtype)
        rotate_score_kernel[(triton.cdiv(heads.shape[0], 8),)](
            self.ent, self.rel, heads, rels, tails, out, heads.shape[0], self.dim, self.gamma, 0.5, BLOCK_B=8, BLOCK_D=16)
        return out


def launch(triples=13, entities=30, relations=5, D=20):
    ent = torch.randn(entities, 2 * D, device="cuda")
    rel = torch.randn(relations, D, device="cuda")
    heads = torch.randint(0, entities, (triples,), device="cuda")
    rels = torch.randint(0, relations, (triples,), device="cuda")
    tails = torch.randint(0, entities, (triples,), device="cuda")
    return RotatE(ent, rel).score(heads, rels, tails)


def reference(ent, rel, heads, rels, tails):
    re_head, im_head = torch.chunk(ent[heads], 2, dim=-1)
    re_tail, im_tail = torch.chunk(ent[tails], 2, dim=-1)
    phase = rel[rels] / 2
    re = re_head * phase.cos() - im_head * phase.sin() - re_tail
    im = re_head * phase.sin() + im_head * phase.cos() - im_tail
    return 12.0 - torch.stack([re, im], dim=0).norm(dim=0).sum(dim=-1)

TRUTH = "verified"
