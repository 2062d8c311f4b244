"""Export random numbers for kernels, identical on the CPU and on a GPU: ``pycu2c.cuda.random``.

xoroshiro128+ has states, and numba's names and streams. Philox4x32-10 is stateless: a number is a
function of a seed, a subsequence and an offset, as in cuRAND.
"""

from pycu2c.device_library.random.philox import philox4x32 as philox4x32
from pycu2c.device_library.random.philox import philox_normal_float32 as philox_normal_float32
from pycu2c.device_library.random.philox import philox_normal_float32x4 as philox_normal_float32x4
from pycu2c.device_library.random.philox import philox_normal_float64 as philox_normal_float64
from pycu2c.device_library.random.philox import philox_normal_float64x2 as philox_normal_float64x2
from pycu2c.device_library.random.philox import philox_uint32 as philox_uint32
from pycu2c.device_library.random.philox import philox_uint32x4 as philox_uint32x4
from pycu2c.device_library.random.philox import philox_uniform_float32 as philox_uniform_float32
from pycu2c.device_library.random.philox import philox_uniform_float32x4 as philox_uniform_float32x4
from pycu2c.device_library.random.philox import philox_uniform_float64 as philox_uniform_float64
from pycu2c.device_library.random.philox import philox_uniform_float64x2 as philox_uniform_float64x2
from pycu2c.device_library.random.states import (
    create_xoroshiro128p_states as create_xoroshiro128p_states,
)
from pycu2c.device_library.random.states import (
    init_xoroshiro128p_states as init_xoroshiro128p_states,
)
from pycu2c.device_library.random.states import (
    init_xoroshiro128p_states_cpu as init_xoroshiro128p_states_cpu,
)
from pycu2c.device_library.random.states import xoroshiro128p_dtype as xoroshiro128p_dtype
from pycu2c.device_library.random.states import xoroshiro128p_type as xoroshiro128p_type
from pycu2c.device_library.random.xoroshiro import (
    init_xoroshiro128p_state as init_xoroshiro128p_state,
)
from pycu2c.device_library.random.xoroshiro import uint64_to_unit_float32 as uint64_to_unit_float32
from pycu2c.device_library.random.xoroshiro import uint64_to_unit_float64 as uint64_to_unit_float64
from pycu2c.device_library.random.xoroshiro import xoroshiro128p_jump as xoroshiro128p_jump
from pycu2c.device_library.random.xoroshiro import xoroshiro128p_next as xoroshiro128p_next
from pycu2c.device_library.random.xoroshiro import (
    xoroshiro128p_normal_float32 as xoroshiro128p_normal_float32,
)
from pycu2c.device_library.random.xoroshiro import (
    xoroshiro128p_normal_float64 as xoroshiro128p_normal_float64,
)
from pycu2c.device_library.random.xoroshiro import (
    xoroshiro128p_uniform_float32 as xoroshiro128p_uniform_float32,
)
from pycu2c.device_library.random.xoroshiro import (
    xoroshiro128p_uniform_float64 as xoroshiro128p_uniform_float64,
)
