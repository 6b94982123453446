import torch


def derivative(state, damping, length):
    theta, omega = state[..., 0], state[..., 1]
    return torch.stack([omega, -damping * omega - 9.81 / length * torch.sin(theta)], dim=-1)


def program(state, damping, length):
    """Three classical Runge-Kutta steps of a damped pendulum."""
    h = 0.05
    for _ in range(3):
        k1 = derivative(state, damping, length)
        k2 = derivative(state + h / 2 * k1, damping, length)
        k3 = derivative(state + h / 2 * k2, damping, length)
        k4 = derivative(state + h * k3, damping, length)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state
