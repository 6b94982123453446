import torch
from torch.special import ndtr


def program(spot, strike, rate, sigma, maturity):
    """European call and put, and the call's delta."""
    root = sigma * torch.sqrt(maturity)
    d1 = (torch.log(spot / strike) + (rate + 0.5 * sigma**2) * maturity) / root
    d2 = d1 - root
    discounted = strike * torch.exp(-rate * maturity)
    call = spot * ndtr(d1) - discounted * ndtr(d2)
    put = discounted * ndtr(-d2) - spot * ndtr(-d1)
    return {"call": call, "put": put, "delta": ndtr(d1)}
