"""
Finding a data race
===================

*Checked launches report data races, indices out of bounds and missing barriers.*

Threads run in any order. If one thread writes an element that another thread reads, and no
barrier separates the two accesses, the result depends on the order. This is a data race. The
example moves a pulse of smoke with the wind, by a simple method for the advection equation.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import CheckError, cuda, kernel

# %%
# A kernel with a mistake
# -----------------------
#
# In each step, a share of the smoke of a cell moves to the next cell. The kernel works in place.
# When a thread reads the cell before its own, another thread may have written it already.


def move_in_place(smoke, share):
    i = cuda.grid(1)
    if 0 < i < len(smoke):
        smoke[i] += share * (smoke[i - 1] - smoke[i])


# %%
# The report
# ----------
#
# The option ``check=True`` makes a kernel that reports such mistakes: the launch raises
# ``CheckError``. Its message has the lines, the element and the threads.
#
# ``pycu2c check script.py`` checks all kernels of a program, without changes to the program.

checked = kernel(block=128, check=True)(move_in_place)
findings = ()
try:
    checked(np.zeros(400, np.float32), 0.5)
except CheckError as error:
    findings = error.findings
    print(re.sub(r"\S+/(?=data_race.py)", "", str(error)))  # without the folder

assert {finding.kind for finding in findings} == {"race"}

# %%
# What the race does
# ------------------
#
# These loops compute what the kernel would compute if the threads ran one after the other, in
# ascending or in descending order. On a GPU, the order is neither of the two, and may change from
# launch to launch.

CELLS, STEPS, SHARE = 400, 120, 0.5


def move_in_order(smoke, cells):
    for i in cells:
        smoke[i] += SHARE * (smoke[i - 1] - smoke[i])


start = np.exp(-(((np.arange(CELLS) - 60) / 15) ** 2)).astype(np.float32)
ascending, descending = start.copy(), start.copy()
for _ in range(STEPS):
    move_in_order(ascending, range(1, CELLS))
    move_in_order(descending, range(CELLS - 1, 0, -1))

# %%
# The correction
# --------------
#
# The kernel reads one array and writes another. The checked launches have no findings.


@kernel(block=128, check=True)
def move(now, new, share):
    i = cuda.grid(1)
    if 0 < i < len(now):
        new[i] = now[i] + share * (now[i - 1] - now[i])
    elif i == 0:
        new[i] = now[i]


now, new = cuda.to_device(start), cuda.device_array_like(start)
expected = start.astype(float)
for _ in range(STEPS):
    move[4](now, new, SHARE)
    now, new = new, now
    expected[1:] += SHARE * (expected[:-1] - expected[1:])
result = now.copy_to_host()

assert np.abs(result - expected).max() < 1e-5
assert np.abs(descending - expected).max() < 1e-5  # right by chance
assert np.abs(ascending - expected).max() > 0.5

# %%
# The smoke
# ---------
#
# In ascending order, the pulse moves twice as far. In descending order, the result is right: a
# test on a machine with this order would not find the mistake.

fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(start, color="0.6", label="start")
ax.plot(ascending, color="tab:orange", label="in place, ascending")
ax.plot(descending, color="tab:blue", lw=4, alpha=0.4, label="in place, descending")
ax.plot(result, "k--", lw=1.2, label="two arrays")
ax.set(title=f"A pulse of smoke after {STEPS} steps")
ax.set(xlabel="cell", ylabel="density", xlim=(0, 300))
ax.legend(loc="upper right")
