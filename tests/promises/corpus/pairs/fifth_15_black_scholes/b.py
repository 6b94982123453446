import math

import torch


def phi(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def program(spot, strike, rate, sigma, maturity):
    total = sigma * maturity.sqrt()
    forward = spot * torch.exp(rate * maturity)
    moneyness = torch.log(forward / strike) / total
    up, down = phi(moneyness + total / 2), phi(moneyness - total / 2)
    discount = torch.exp(-rate * maturity)
    call = discount * (forward * up - strike * down)
    put = call - spot + strike * discount
    return {"call": call, "put": put, "delta": up}
