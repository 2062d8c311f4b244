"""A block per row: the greatest value, the sum of exponentials, then the quotients."""

import math

import numpy as np

from pycu2c import cuda, float32, kernel

BLOCK = 32

SIGNATURES = {
    "f32": (float32[:, ::1], float32[:, ::1]),
    "strided": (float32[:, :], float32[:, :]),
}


@kernel(block=(BLOCK,))
def softmax(logits, out):
    partial = cuda.shared.array(BLOCK, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    columns = logits.shape[1]

    greatest = float32(-math.inf)
    for column in range(tid, columns, BLOCK):
        greatest = max(greatest, logits[row, column])
    partial[tid] = greatest
    cuda.syncthreads()
    for k in range(BLOCK):
        greatest = max(greatest, partial[k])
    cuda.syncthreads()

    total = 0.0
    for column in range(tid, columns, BLOCK):
        total += math.exp(logits[row, column] - greatest)
    partial[tid] = total
    cuda.syncthreads()
    total = 0.0
    for k in range(BLOCK):
        total += partial[k]

    for column in range(tid, columns, BLOCK):
        out[row, column] = math.exp(logits[row, column] - greatest) / total


def case(rng, variant):
    logits = rng.normal(0, 2, (6, 75)).astype(np.float32)
    if variant == "strided":
        logits = logits.T.copy().T
    return 6, BLOCK, (logits, np.zeros((6, 75), np.float32))
