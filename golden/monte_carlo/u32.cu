__device__ unsigned int stepped(unsigned int state_) {
    return state_ * 1664525 + 1013904223;
}

extern "C" __global__ void monte_carlo(unsigned int *states, int states_len, int *hits, int draws) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= states_len) return;
    unsigned int state_ = states[i];
    int inside = 0;
    for (int _ = 0; _ < draws; ++_) {
        state_ = stepped(state_);
        unsigned int x = state_ >> 17;
        state_ = stepped(state_);
        unsigned int y = state_ >> 17;
        if (x * x + y * y < 1073741824) {
            inside += 1;
        }
    }
    states[i] = state_;
    hits[i] = inside;
}
