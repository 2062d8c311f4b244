void fft_stage(float *re, int n, float *im, int im_len, const float *restrict cosines,
               int cosines_len, const float *restrict sines, int sines_len, int half)
{
#pragma omp parallel for
    for (int start = 0; start < n; start += 2 * half) {
        float *restrict re0 = re + start, *restrict re1 = re0 + half;
        float *restrict im0 = im + start, *restrict im1 = im0 + half;
#pragma omp simd
        for (int k = 0; k < half; k++) {
            float tr = cosines[k] * re1[k] - sines[k] * im1[k];
            float ti = cosines[k] * im1[k] + sines[k] * re1[k];
            re1[k] = re0[k] - tr;
            im1[k] = im0[k] - ti;
            re0[k] += tr;
            im0[k] += ti;
        }
    }
}
