# RWKV-7 "Goose" time mixing, what happens to the key before the state update
import torch
import triton
import triton.language as tl


@triton.jit
def rwkv7_prepare_k_kernel(
    k, a, k_k, k_a, k_out, neg_kk_out, kk_a_out,
    H, D,
    BD: tl.constexpr,
):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_d = tl.arange(0, BD)
    m_d = o_d < D
    at = (i_t * H + i_h) * D + o_d
    b_k = tl.load(k + at, mask=m_d, other=0.0)
    b_a = tl.load(a + at, mask=m_d, other=0.0)
    b_kk = b_k * tl.load(k_k + i_h * D + o_d, mask=m_d, other=0.0)
    norm = tl.maximum(tl.sqrt(tl.sum(b_kk * b_kk, axis=0)), 1e-12)
    b_kk = b_kk / norm
    mix = tl.load(k_a + i_h * D + o_d, mask=m_d, other=0.0)
    tl.store(k_out + at, b_k * (1.0 + (b_a - 1.0) * mix), mask=m_d)
    tl.store(neg_kk_out + at, -b_kk, mask=m_d)
    tl.store(kk_a_out + at, b_kk * b_a, mask=m_d)


def launch(tokens=7, heads=3, dim=20):
    k = torch.randn(tokens, heads * dim, device="cuda")
    a = torch.sigmoid(torch.randn(tokens, heads * dim, device="cuda"))
    k_k = torch.randn(heads * dim, device="cuda")
    k_a = torch.randn(heads * dim, device="cuda")
    k_out, neg_kk, kk_a = torch.empty_like(k), torch.empty_like(k), torch.empty_like(k)
    rwkv7_prepare_k_kernel[(tokens, heads)](
        k, a, k_k, k_a, k_out, neg_kk, kk_a, heads, dim, BD=triton.next_power_of_2(dim)
    )
    return k_out, neg_kk, kk_a


def reference(k, a, k_k, k_a, heads):
    kk = torch.nn.functional.normalize((k * k_k).view(k.shape[0], heads, -1), dim=-1, p=2.0).view_as(k)
    return torch.lerp(k, k * a, k_a), -kk, kk * a


TRUTH = "verified"
