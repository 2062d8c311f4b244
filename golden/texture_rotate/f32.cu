extern "C" __global__ void rotate(cudaTextureObject_t image, float cos_, float sin_, float *out,
                                  int out_shape0, int out_shape1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = out_shape0;
    int width = out_shape1;
    if (x < width && y < height) {
        float u = x + 0.5f - width / 2.0f;
        float v = y + 0.5f - height / 2.0f;
        out[y * width + x] = tex2D<float>(image, cos_ * u - sin_ * v + width / 2.0f, sin_ * u + cos_ * v + height / 2.0f);
    }
}
