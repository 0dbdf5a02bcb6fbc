/* Small helpers that every kernel may inline. */
#ifndef VEC_H
#define VEC_H

/* Dot product in four lanes, which fill one vector register. */
static inline float vec_dot(const float *a, const float *b, int n)
{
    float lane[4] = { 0, 0, 0, 0 };
    int i = 0;

    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++)
            lane[l] += a[i + l] * b[i + l];
    float tail = 0;
    for (; i < n; i++)
        tail += a[i] * b[i];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]) + tail;
}

#endif
