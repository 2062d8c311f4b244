r"""
Sequence alignment (Smith–Waterman)
===================================

*Dynamic programming along anti-diagonals: a wavefront of independent cells.*

The Smith–Waterman algorithm finds the best local alignment of two sequences of DNA. The score of
a pair of positions depends on three neighbours:

.. math:: H_{i,j} = \max(0,\; H_{i-1,j-1} + s(a_i, b_j),\; H_{i-1,j} - g,\; H_{i,j-1} - g),

where :math:`s` is positive for equal letters and negative for others, and :math:`g` is the cost
of a gap.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, kernel

# %%
# The kernel
# ----------
#
# The cells of an anti-diagonal, with the same :math:`i + j`, need only cells of the two
# anti-diagonals before. So all cells of an anti-diagonal can be computed at the same time. A block
# aligns one pair of sequences: its threads share the cells of an anti-diagonal, and a barrier
# separates the anti-diagonals. Many pairs run in parallel, one in each block.
#
# ``scores[pair]`` is a view of the matrix of this block, as in numpy.

MATCH, MISMATCH, GAP = 2, -2, 3
BLOCK = 64


@kernel(block=BLOCK)
def align(first, second, scores):
    a, b, h = first[cuda.blockIdx.x], second[cuda.blockIdx.x], scores[cuda.blockIdx.x]
    for diagonal in range(2, len(a) + len(b) + 1):
        start, stop = max(1, diagonal - len(b)), min(len(a), diagonal - 1) + 1
        for i in range(start + cuda.threadIdx.x, stop, BLOCK):
            j = diagonal - i
            substitution = MATCH if a[i - 1] == b[j - 1] else MISMATCH
            h[i, j] = max(
                0,
                h[i - 1, j - 1] + substitution,
                h[i - 1, j] - GAP,
                h[i, j - 1] - GAP,
            )
        cuda.syncthreads()


# %%
# Sequences
# ---------
#
# The second sequence of a pair contains a copy of a part of the first, with mutations.

LETTERS = np.frombuffer(b"ACGT", np.uint8)


def related_sequences(length, rng):
    first, second = rng.choice(LETTERS, (2, length))
    part = first[length // 4 : 3 * length // 4].copy()
    changed = rng.random(len(part)) < 0.1
    part[changed] = rng.choice(LETTERS, changed.sum())
    part = np.delete(part, rng.integers(0, len(part), 6))  # gaps
    second[10 : 10 + len(part)] = part
    return first, second


rng = np.random.default_rng(14)
pairs = [related_sequences(160, rng) for _ in range(16)]
first, second = (np.array(sequences) for sequences in zip(*pairs))
scores = np.zeros((16, 161, 161), np.int32)
align[16](first, second, scores)

# %%
# Check
# -----
#
# The same recurrence with two Python loops, for one pair.


def align_python(a, b):
    h = np.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            s = MATCH if a[i - 1] == b[j - 1] else MISMATCH
            h[i, j] = max(0, h[i - 1, j - 1] + s, h[i - 1, j] - GAP, h[i, j - 1] - GAP)
    return h


for pair in (0, 15):
    assert np.array_equal(scores[pair], align_python(first[pair], second[pair]))
print("best score of each pair:", scores.max(axis=(1, 2)))

# %%
# The alignment
# -------------
#
# The best alignment ends at the largest score. From there, the path goes back to the neighbour
# that the score came from, until it reaches 0.


def trace_back(h, a, b):
    i, j = np.unravel_index(h.argmax(), h.shape)
    path, lines = [(i, j)], ["", ""]
    while h[i, j] > 0:
        if h[i, j] == h[i - 1, j - 1] + (MATCH if a[i - 1] == b[j - 1] else MISMATCH):
            i, j, letters = i - 1, j - 1, (chr(a[i - 1]), chr(b[j - 1]))
        elif h[i, j] == h[i - 1, j] - GAP:
            i, letters = i - 1, (chr(a[i - 1]), "-")
        else:
            j, letters = j - 1, ("-", chr(b[j - 1]))
        path.append((i, j))
        lines = [letter + line for letter, line in zip(letters, lines)]
    return np.array(path), lines


path, lines = trace_back(scores[0], first[0], second[0])
marks = "".join("|" if p == q else " " for p, q in zip(*lines))
print(lines[0][:60], marks[:60], lines[1][:60], sep="\n")

fig, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
image = ax.imshow(scores[0], cmap="cividis", origin="lower")
ax.plot(path[:, 1], path[:, 0], color="white", lw=1.5, label="best local alignment")
ax.set(title="Scores of all pairs of positions")
ax.set(xlabel="position in the second sequence", ylabel="position in the first sequence")
fig.colorbar(image, label="score")
ax.legend(loc="lower right", labelcolor="white", facecolor="black", framealpha=0.5)

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

align
