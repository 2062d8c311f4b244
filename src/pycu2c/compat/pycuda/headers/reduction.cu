${header}${preamble}
#define THREADS_ ${threads}
#define ACCUMULATORS_ 16
typedef ${out_type} out_type;
static __device__ __forceinline__ out_type reduce_(out_type a, out_type b)
{
    return ${reduce};
}

extern "C" __global__ void ${name}(
    ${parameters}, out_type *out_, long n_, out_type *partials_, unsigned int *finished_blocks_)
{
    const long elements_per_block_ = (n_ + gridDim.x - 1) / gridDim.x;
    const long first_ = elements_per_block_ * blockIdx.x;
    const long end_ = first_ + elements_per_block_ < n_ ? first_ + elements_per_block_ : n_;
    out_type total_ = ${neutral};
#if THREADS_ == 1 // several accumulators shorten the dependency chain
    out_type accumulators_[ACCUMULATORS_];
    for (int k_ = 0; k_ < ACCUMULATORS_; k_++) accumulators_[k_] = total_;
    long rest_ = first_;
    for (; rest_ + ACCUMULATORS_ <= end_; rest_ += ACCUMULATORS_)
        for (int k_ = 0; k_ < ACCUMULATORS_; k_++) {
            const long i = rest_ + k_;
            accumulators_[k_] = reduce_(accumulators_[k_], ${mapped});
        }
    for (long i = rest_; i < end_; i++) total_ = reduce_(total_, ${mapped});
    for (int k_ = 0; k_ < ACCUMULATORS_; k_++) total_ = reduce_(total_, accumulators_[k_]);
    if (gridDim.x > 1) {
        partials_[blockIdx.x] = total_;
        __threadfence();
        if (atomicInc(finished_blocks_, gridDim.x - 1) < gridDim.x - 1) return;
        __threadfence();
        total_ = ${neutral};
        for (unsigned int k_ = 0; k_ < gridDim.x; k_++) total_ = reduce_(total_, partials_[k_]);
    }
#else
    const auto combine_ = [](out_type a, out_type b) { return reduce_(a, b); };
#pragma unroll 8
    for (long i = first_ + threadIdx.x; i < end_; i += THREADS_)
        total_ = reduce_(total_, ${mapped});
    total_ = _reduce_block<THREADS_>(total_, combine_);
    if (gridDim.x > 1) {
        if (threadIdx.x == 0) partials_[blockIdx.x] = total_;
        if (!_is_last_block(finished_blocks_, gridDim.x)) return;
        total_ = ${neutral};
        for (unsigned int k_ = threadIdx.x; k_ < gridDim.x; k_ += THREADS_)
            total_ = reduce_(total_, _load_partial(&partials_[k_]));
        total_ = _reduce_block<THREADS_>(total_, combine_);
    }
#endif
    if (threadIdx.x == 0) *out_ = total_;
}
