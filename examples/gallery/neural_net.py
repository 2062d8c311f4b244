r"""
A small neural network
======================

*Forward pass, gradients and updates as three kernels.*

A network with one hidden layer learns to tell two interleaved spirals apart:

.. math:: h = \tanh(W_1 x + b_1), \qquad p = \frac{1}{1 + e^{-(w_2 \cdot h + b_2)}}.

Training minimizes the mean cross-entropy of :math:`p` and the labels by gradient descent with
momentum.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, device, float32, kernel

# %%
# Parameters
# ----------
#
# All parameters are in one array with a row for each hidden unit: two weights of the input, the
# bias, and the weight of the output. The bias of the output is an element after the last row.

HIDDEN = 32
OUTPUT_BIAS = 4 * HIDDEN
PARAMETERS = 4 * HIDDEN + 1


@device
def hidden_unit(parameters, unit, x, y):
    row = parameters[4 * unit : 4 * unit + 4]
    return math.tanh(row[0] * x + row[1] * y + row[2])


# %%
# Forward pass
# ------------
#
# A thread computes the probability for one point. The rows of ``points`` are x and y.


@kernel(block=128, weak_float="float32")
def predict(points, parameters, probability):
    i = cuda.grid(1)
    if i < len(probability):
        z = parameters[OUTPUT_BIAS]
        for unit in range(HIDDEN):
            h = hidden_unit(parameters, unit, points[0, i], points[1, i])
            z += parameters[4 * unit + 3] * h
        probability[i] = 1 / (1 + math.exp(-z))


# %%
# Gradients
# ---------
#
# A block computes the gradients of one hidden unit: each thread adds up its share of the points,
# then the block adds the sums of its threads in shared memory. No atomic operations are needed.
# The last block computes the gradient of the output bias.
#
# ``p - label`` is the derivative of the cross-entropy with respect to the input of the sigmoid.

BLOCK = 64


@device
def block_sum(value):
    """The sum of the values of all threads of the block."""
    part = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    part[t] = value
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    total = part[0]
    cuda.syncthreads()  # all threads have read the sum before the next call writes
    return total


@kernel(grid=HIDDEN + 1, block=BLOCK, weak_float="float32")
def compute_gradient(points, labels, probability, parameters, gradient):
    unit, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = len(labels)
    slope_x = slope_y = slope_bias = slope_output = 0.0
    for i in range(t, n, BLOCK):
        error = (probability[i] - labels[i]) / n
        if unit == HIDDEN:
            slope_bias += error
        else:
            h = hidden_unit(parameters, unit, points[0, i], points[1, i])
            inner = error * parameters[4 * unit + 3] * (1 - h * h)
            slope_x += inner * points[0, i]
            slope_y += inner * points[1, i]
            slope_bias += inner
            slope_output += error * h
    sums = block_sum(slope_x), block_sum(slope_y), block_sum(slope_bias), block_sum(slope_output)
    if t == 0 and unit < HIDDEN:
        for k, value in enumerate(sums):
            gradient[4 * unit + k] = value
    elif t == 0:
        gradient[OUTPUT_BIAS] = sums[2]


@kernel(grid=1, block=PARAMETERS)
def update(parameters, momentum, gradient, rate):
    k = cuda.threadIdx.x
    momentum[k] = 0.95 * momentum[k] - rate * gradient[k]
    parameters[k] += momentum[k]


# %%
# Training
# --------


def spirals(n, rng):
    turn = np.sqrt(rng.random(n)) * 3 * np.pi
    labels = np.arange(n) % 2
    angle = turn + np.pi * labels
    points = turn * np.array([np.cos(angle), np.sin(angle)]) / 10
    return (points + rng.normal(0, 0.015, (2, n))).astype(np.float32), labels.astype(np.float32)


def cross_entropy(probability, labels):
    p = np.where(labels == 1, probability, 1 - probability).astype(float)
    return -np.log(np.maximum(p, 1e-7)).mean()


def train(points, labels, parameters, steps, rate, record_every=100):
    on_device, targets = cuda.to_device(points), cuda.to_device(labels)
    parameters = cuda.to_device(parameters)
    gradient, momentum = (cuda.to_device(np.zeros(PARAMETERS, np.float32)) for _ in range(2))
    probability = cuda.device_array(len(labels), np.float32)
    losses = []
    for step in range(steps):
        predict(on_device, parameters, probability)
        compute_gradient(on_device, targets, probability, parameters, gradient)
        update(parameters, momentum, gradient, rate)
        if step % record_every == 0:
            losses.append(cross_entropy(probability.copy_to_host(), labels))
    return parameters.copy_to_host(), losses


rng = np.random.default_rng(15)
points, labels = spirals(400, rng)
start = rng.normal(0, 2, PARAMETERS).astype(np.float32)
STEPS = 8000
parameters, losses = train(points, labels, start, STEPS, 0.05)

# %%
# Check
# -----
#
# numpy computes the probabilities, and the gradient by finite differences. New points of the same
# spirals test what the network has learned.


def predict_numpy(parameters, points):
    w = parameters[:OUTPUT_BIAS].reshape(HIDDEN, 4).astype(float)
    h = np.tanh(points.T @ w[:, :2].T + w[:, 2])
    return 1 / (1 + np.exp(-(h @ w[:, 3] + parameters[OUTPUT_BIAS])))


def gradient_by_differences(parameters):
    steps = 1e-5 * np.eye(PARAMETERS)
    loss = lambda p: cross_entropy(predict_numpy(p, points), labels)  # noqa: E731
    return np.array([(loss(parameters + s) - loss(parameters - s)) / 2e-5 for s in steps])


probability = np.zeros(400, np.float32)
gradient = np.zeros(PARAMETERS, np.float32)
predict(points, start, probability)
compute_gradient(points, labels, probability, start, gradient)
np.testing.assert_allclose(probability, predict_numpy(start, points), atol=1e-5)
np.testing.assert_allclose(gradient, gradient_by_differences(start.astype(float)), atol=1e-5)

new_points, new_labels = spirals(1000, rng)
probability = np.zeros(1000, np.float32)
predict(new_points, parameters, probability)
accuracy = ((probability > 0.5) == new_labels).mean()
print(f"cross-entropy: {losses[0]:.3f} at the start, {losses[-1]:.4f} at the end")
print(f"new points in the right class: {accuracy:.1%}")
assert accuracy > 0.95

# %%
# The result
# ----------

side = np.linspace(-1.1, 1.1, 200, dtype=np.float32)
plane = np.array(np.meshgrid(side, side)).reshape(2, -1)
probability = np.zeros(plane.shape[1], np.float32)
predict(plane, parameters, probability)

fig, (left, right) = plt.subplots(
    1, 2, figsize=(6.4, 3.2), layout="constrained", width_ratios=(1.4, 1)
)
image = left.contourf(side, side, probability.reshape(200, 200), levels=20, cmap="cividis")
for label, colour in ((0, "white"), (1, "black")):
    left.plot(*points[:, labels == label], ".", color=colour, ms=3)
left.set(title="Probability of class 1", xlabel="x", ylabel="y", aspect="equal")
fig.colorbar(image, ax=left, label="probability", ticks=(0, 0.5, 1), shrink=0.8)
right.semilogy(100 * np.arange(len(losses)), losses)
right.set(title="Training", xlabel="step", ylabel="cross-entropy")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

compute_gradient
