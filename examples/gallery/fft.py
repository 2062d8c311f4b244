r"""
Fast Fourier transform
======================

*Complex numbers in shared memory, and barriers between the stages of an algorithm.*

The discrete Fourier transform of :math:`n = 2^m` numbers takes :math:`m` stages of :math:`n/2`
*butterflies*, each of which combines two numbers. Stockham's variant writes the results of a
stage in such an order that the numbers are sorted at the end. The example computes the
spectrogram of a signal: the spectra of short windows.
"""

import cmath
import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import complex64, cuda, kernel

# %%
# The kernel
# ----------
#
# A block transforms one window: it loads the window to shared memory, computes all stages there,
# and writes the spectrum. Each thread computes one butterfly of each stage. The two rows of
# ``buffer`` take turns as input and output of a stage. ``cuda.syncthreads()`` separates the
# stages.

N = 256  # samples of a window


@kernel(block=N // 2, weak_float="float32")
def spectra(signal, window, hop, out):
    buffer = cuda.shared.array((2, N), complex64)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * hop
    for k in (t, t + N // 2):
        buffer[0, k] = complex(signal[start + k] * window[k], 0.0)
    cuda.syncthreads()

    source = 0
    half = 1  # half of the length of the transforms that this stage completes
    while half < N:
        j = t % half
        twiddle = cmath.exp(complex(0.0, -math.pi * j / half))
        a = buffer[source, t]
        b = twiddle * buffer[source, t + N // 2]
        at = 2 * (t - j) + j
        buffer[1 - source, at] = a + b
        buffer[1 - source, at + half] = a - b
        cuda.syncthreads()
        source = 1 - source
        half *= 2

    for k in (t, t + N // 2):
        out[cuda.blockIdx.x, k] = buffer[source, k]


# %%
# A signal
# --------
#
# A chirp, whose frequency rises, a tone of 1 kHz for a part of the time, and noise.

RATE = 8000  # samples per second
HOP = N // 4  # windows overlap


def chirp_and_tone(seconds, rng):
    t = np.arange(int(seconds * RATE)) / RATE
    chirp = np.sin(2 * np.pi * (500 + 400 * t) * t)
    tone = np.where((t > 0.8) & (t < 1.8), np.sin(2 * np.pi * 1000 * t), 0)
    return (chirp + 0.5 * tone + 0.1 * rng.normal(size=len(t))).astype(np.float32)


signal = chirp_and_tone(3, np.random.default_rng(5))
window = np.hanning(N).astype(np.float32)
windows = (len(signal) - N) // HOP + 1

result = np.zeros((windows, N), np.complex64)
spectra[windows](signal, window, HOP, result)

# %%
# Check
# -----

pieces = np.lib.stride_tricks.sliding_window_view(signal, N)[::HOP] * window
expected = np.fft.fft(pieces.astype(float), axis=1)
error = np.abs(result - expected).max() / np.abs(expected).max()
print(f"{windows} transforms; largest error relative to the largest value: {error:.1e}")
assert error < 1e-6

# %%
# The spectrogram
# ---------------

power = 20 * np.log10(np.abs(result[:, : N // 2]) / np.abs(result).max())
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
extent = (0, len(signal) / RATE, 0, RATE / 2000)
image = ax.imshow(power.T, cmap="viridis", vmin=-60, origin="lower", aspect="auto", extent=extent)
ax.set(title="Spectrogram of a chirp and a tone", xlabel="time (s)", ylabel="frequency (kHz)")
fig.colorbar(image, label="power (dB of the maximum)")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

spectra
