"""Leapfrog of HMC on a logistic regression: textbook half steps with autograd, and merged kicks."""
import torch
from torch.nn import functional as F

STEPS, EPSILON, PRIOR = 3, 0.15, 0.5


def potential(w, x, y):
    logits = w @ x.T
    return F.binary_cross_entropy_with_logits(logits, y.expand_as(logits), reduction="none").sum(-1) + (
        0.5 * PRIOR * w.square().sum(-1)
    )


def textbook(w, p, x, labels):
    y = torch.sigmoid(labels)

    def gradient(at):
        at = at.detach().requires_grad_(True)
        return torch.autograd.grad(potential(at, x, y).sum(), at)[0]

    before = potential(w, x, y) + 0.5 * p.square().sum(-1)
    for _ in range(STEPS):
        p = p - 0.5 * EPSILON * gradient(w)
        w = w + EPSILON * p
        p = p - 0.5 * EPSILON * gradient(w)
    after = potential(w, x, y) + 0.5 * p.square().sum(-1)
    return w, -p, before - after


def merged(w, p, x, labels):
    y = labels.sigmoid()

    def force(at):
        return (y - torch.sigmoid(at @ x.T)) @ x - PRIOR * at

    def energy(at, momentum):
        logits = at @ x.T
        fit = torch.logaddexp(logits, torch.zeros_like(logits)) - y * logits
        return fit.sum(-1) + (PRIOR * at.square() + momentum.square()).sum(-1) / 2

    start = energy(w, p)
    p = p + EPSILON / 2 * force(w)
    for i in range(STEPS):
        w = w + EPSILON * p
        p = p + (EPSILON if i < STEPS - 1 else EPSILON / 2) * force(w)
    return w, -p, start - energy(w, p)


def left():
    return textbook


def right():
    return merged


def inputs():
    return torch.randn(3, 4), torch.randn(3, 4), torch.randn(7, 4), torch.randn(7)
