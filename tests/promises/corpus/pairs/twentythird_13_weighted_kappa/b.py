"""The same without a matrix. Quadratic kappa is 1 - E(p - a)² over what that is if predictions and grades were independent.

With means m and biased variances v it is 2 cov / (v_p + v_a + (m_p - m_a)²), which is Lin's concordance.
"""
import torch


def concordance(p, a):
    mean_p, mean_a = p.mean(), a.mean()
    covariance = ((p - mean_p) * (a - mean_a)).mean()
    spread = p.var(unbiased=False) + a.var(unbiased=False)
    return 2 * covariance / (spread + (mean_p - mean_a) ** 2)


def agreement(predicted, actual):
    distance = (predicted - actual).abs()
    return {
        "kappa": concordance(predicted.float(), actual.float()),
        "accuracy": (distance == 0).float().mean(),
        "within one": (distance <= 1).float().mean(),
    }
