#include "selftest.h"

#include "kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

/* Deterministic values in [-1, 1). */
static float *values(size_t n, uint32_t seed)
{
    float *v = malloc((n ? n : 1) * sizeof *v);

    if (!v)
        abort();
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
    return v;
}

static void report(const char *what, double max_diff, double limit)
{
    const int ok = max_diff <= limit;

    failures += !ok;
    printf("%s %s max_diff=%.1e\n", ok ? "[OK]" : "[FAIL]", what, max_diff);
}

static double worse(double max_diff, double got, double want)
{
    const double diff = fabs(got - want);

    return diff > max_diff || isnan(diff) ? diff : max_diff;
}

static double dot(const float *a, const float *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

static void check_matmul(struct pool *p, int rows, int cols)
{
    enum { TOKENS = 3 };
    struct tensor w = { rows, cols, values((size_t)rows * cols, 1) };
    float *x = values((size_t)TOKENS * cols, 2), *y = values((size_t)TOKENS * rows, 3);
    char what[64];
    double diff = 0;

    matmul(p, y, &w, x, TOKENS);
    for (int t = 0; t < TOKENS; t++)
        for (int r = 0; r < rows; r++)
            diff = worse(diff, y[t * rows + r], dot(w.data + (size_t)r * cols, x + (size_t)t * cols, cols));
    snprintf(what, sizeof what, "matmul %dx%d", rows, cols);
    report(what, diff, 1e-6 * cols);
    free(w.data);
    free(x);
    free(y);
}

static void check_rmsnorm(int n)
{
    struct tensor w = { 1, n, values((size_t)n, 4) };
    float *x = values((size_t)n, 5), *y = values((size_t)n, 6);
    const double scale = 1 / sqrt(dot(x, x, n) / n + 1e-5);
    char what[64];
    double diff = 0;

    rmsnorm(y, x, &w, 1, 1e-5f);
    for (int i = 0; i < n; i++)
        diff = worse(diff, y[i], x[i] * scale * w.data[i]);
    snprintf(what, sizeof what, "rmsnorm %d", n);
    report(what, diff, 1e-5);
    free(w.data);
    free(x);
    free(y);
}

static void check_rope(int head_dim, int pos)
{
    enum { HEADS = 3 };
    const int half = head_dim / 2;
    float *x = values((size_t)HEADS * head_dim, 7), *y = values((size_t)HEADS * head_dim, 7);
    char what[64];
    double diff = 0;

    rope(y, 1, HEADS, head_dim, pos, 10000.0f);
    for (int h = 0; h < HEADS; h++) {
        for (int i = 0; i < half; i++) {
            const int a = h * head_dim + i, b = a + half;
            const double angle = pos * pow(10000.0, -2.0 * i / head_dim);
            diff = worse(diff, y[a], x[a] * cos(angle) - x[b] * sin(angle));
            diff = worse(diff, y[b], x[a] * sin(angle) + x[b] * cos(angle));
        }
    }
    snprintf(what, sizeof what, "rope %d pos=%d", head_dim, pos);
    report(what, diff, 2e-4);
    free(x);
    free(y);
}

/* What head h of the last of n positions should give in its element d. */
static double attention_reference(const float *q, const float *keys, const float *vals,
                                  const struct attention_shape *s, int n, int h, int d)
{
    const int stride = s->n_kv_heads * s->head_dim;
    const int kv = h / (s->n_heads / s->n_kv_heads) * s->head_dim;
    double sum = 0, out = 0;

    for (int i = 0; i < n; i++) {
        const double score = dot(q + h * s->head_dim, keys + (size_t)i * stride + kv, s->head_dim);
        const double weight = exp(score / sqrt(s->head_dim));
        sum += weight;
        out += weight * vals[(size_t)i * stride + kv + d];
    }
    return out / sum;
}

static void check_attention(struct pool *p, int heads, int kv_heads)
{
    enum { TOKENS = 5, POS = 28, HEAD_DIM = 16 };
    const struct attention_shape s = { heads, kv_heads, HEAD_DIM };
    const int width = heads * HEAD_DIM, stride = kv_heads * HEAD_DIM;
    float *q = values((size_t)TOKENS * width, 8), *y = values((size_t)TOKENS * width, 9);
    float *keys = values((size_t)(POS + TOKENS) * stride, 10);
    float *vals = values((size_t)(POS + TOKENS) * stride, 11);
    char what[64];
    double diff = 0;

    attention(p, y, q, keys, vals, &s, TOKENS, POS);
    for (int t = 0; t < TOKENS; t++)
        for (int h = 0; h < heads; h++)
            for (int d = 0; d < HEAD_DIM; d++)
                diff = worse(diff, y[t * width + h * HEAD_DIM + d],
                             attention_reference(q + t * width, keys, vals, &s, POS + t + 1, h, d));
    snprintf(what, sizeof what, "attention %d:%d", heads, kv_heads);
    report(what, diff, 1e-5);
    free(q);
    free(y);
    free(keys);
    free(vals);
}

static void check_swiglu(struct pool *p, int rows, int cols)
{
    struct tensor g = { rows, cols, values((size_t)rows * cols, 12) };
    struct tensor u = { rows, cols, values((size_t)rows * cols, 13) };
    float *x = values((size_t)cols, 14), *y = values((size_t)rows * 3, 15);
    char what[64];
    double diff = 0;

    swiglu(p, y, y + rows, y + 2 * rows, &g, &u, x, 1);
    for (int r = 0; r < rows; r++) {
        const double gate = dot(g.data + (size_t)r * cols, x, cols);
        const double up = dot(u.data + (size_t)r * cols, x, cols);
        diff = worse(diff, y[r], gate / (1 + exp(-gate)) * up);
    }
    snprintf(what, sizeof what, "swiglu %dx%d", rows, cols);
    report(what, diff, 1e-6 * cols);
    free(g.data);
    free(u.data);
    free(x);
    free(y);
}

int selftest(int rows, int cols)
{
    static const int matmul_shapes[][2] = {
        { 96, 96 }, { 48, 96 }, { 256, 96 }, { 171, 96 }, { 96, 256 },
        { 96, 171 }, { 96, 173 }, { 512, 96 }, { 5, 7 },
    };
    struct pool *p = pool_new(2);

    if (!p)
        abort();
    for (size_t i = 0; i < sizeof matmul_shapes / sizeof *matmul_shapes; i++)
        check_matmul(p, matmul_shapes[i][0], matmul_shapes[i][1]);
    if (rows > 0)
        check_matmul(p, rows, cols);
    check_rmsnorm(96);
    check_rmsnorm(171);
    check_rmsnorm(7);
    check_rope(16, 0);
    check_rope(16, 1);
    check_rope(16, 300);
    check_rope(8, 17);
    check_attention(p, 6, 3);
    check_attention(p, 4, 1);
    check_attention(p, 2, 2);
    check_swiglu(p, 256, 96);
    check_swiglu(p, 171, 96);
    check_swiglu(p, 173, 96);
    pool_free(p);
    return failures;
}
