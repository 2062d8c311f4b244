extern "C" __global__ void fft_stage(float *__restrict__ re, int n, float *__restrict__ im,
                                     int im_len, const float *__restrict__ cosines,
                                     int cosines_len, const float *__restrict__ sines,
                                     int sines_len, int half)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n / 2)
        return;
    int group = k / half, offset = k % half;
    int i = 2 * half * group + offset, j = i + half;
    float wr = cosines[offset], wi = sines[offset];
    float ar = re[i], ai = im[i], br = re[j], bi = im[j];
    float tr = wr * br - wi * bi, ti = wr * bi + wi * br;
    re[i] = ar + tr;
    im[i] = ai + ti;
    re[j] = ar - tr;
    im[j] = ai - ti;
}
