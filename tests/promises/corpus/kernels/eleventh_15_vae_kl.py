import torch
import triton
import triton.language as tl


# VAE: z = mu + exp(logvar / 2) * eps and the KL to a unit Gaussian for each sample, in one pass
@triton.jit
def vae_kernel(mu_ptr, logvar_ptr, eps_ptr, z_ptr, kl_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, D, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < D
        mu = tl.load(mu_ptr + row * D + cols, mask=mask, other=0.0)
        lv = tl.load(logvar_ptr + row * D + cols, mask=mask, other=0.0)
        e = tl.load(eps_ptr + row * D + cols, mask=mask, other=0.0)
        tl.store(z_ptr + row * D + cols, mu + tl.exp(0.5 * lv) * e, mask=mask)
        acc += 1.0 + lv - mu * mu - tl.exp(lv)        # 0 in the padding: 1 + 0 - 0 - 1
    tl.store(kl_ptr + row, -0.5 * tl.sum(acc, axis=0))


def launch(batch=9, latent=150):
    mu = torch.randn(batch, latent, device="cuda")
    logvar = torch.randn(batch, latent, device="cuda")
    eps = torch.randn(batch, latent, device="cuda")
    z = torch.empty_like(mu)
    kl = torch.empty(batch, device="cuda")
    vae_kernel[(batch,)](mu, logvar, eps, z, kl, latent, BLOCK=64)
    return z, kl


def reference(mu, logvar, eps):
    std = torch.exp(0.5 * logvar)
    return mu + std * eps, 0.5 * (logvar.exp() + mu.pow(2) - 1 - logvar).sum(-1)


TRUTH = "verified"
