__device__ float switch_(float auto_, float register_) {
    return auto_ * register_;
}

extern "C" __global__ void c_names(const float *index_, float *double_, float time_, float norm_,
                                   int template_) {
    int threadIdx_ = threadIdx.x;
    int this_ = blockIdx.x * blockDim.x + threadIdx.x;
    if (this_ < template_) {
        float volatile_ = switch_(index_[this_], time_);
        float signed_ = volatile_ + norm_;
        int struct_ = signed_ > 0.0f ? 1 : 0;
        double_[this_] = signed_ * struct_ + threadIdx_;
    }
}
