/* The public face of the engine: a model, and contexts that run it. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stddef.h>
#include <stdint.h>

enum { TOKEN_UNKNOWN = 0, TOKEN_BOS = 1 };

/* Longest context that the kernels have room for. */
enum { ENGINE_MAX_CTX = 512 };

/* A matrix [rows, cols], row-major; a vector has one row. */
struct tensor {
    int rows;
    int cols;
    float *data;
};

struct layer {
    int ffn;
    struct tensor attn_norm, wq, wk, wv, wo;
    struct tensor ffn_norm, w_gate, w_up, w_down;
};

struct vocab {
    int size;
    uint8_t *length;
    char **bytes;
};

struct model {
    int d_model, n_layers, n_heads, n_kv_heads, head_dim, n_ctx;
    int ffn_max;
    float rope_theta, rms_eps;
    struct vocab vocab;
    struct tensor tok_emb, out_norm;
    struct layer *layers;
};

/* Reads a model file. On failure returns NULL and says why on stderr. */
struct model *model_load(const char *path);
void model_free(struct model *m);

/* Greedy longest match; a byte that starts no token is TOKEN_UNKNOWN.
 * Returns a malloc'ed array of *n tokens. */
int *tokenize(const struct vocab *v, const char *text, size_t size, size_t *n);

/* Called with every named intermediate tensor [rows, cols], in order of computation. */
typedef void (*trace_fn)(void *user, const char *name, const float *data, int rows, int cols);

struct pool;

/* One sequence: its cache of keys and values, and room to compute in. */
struct context {
    const struct model *model;
    struct pool *pool;
    float *k_cache, *v_cache;           /* [layers, n_ctx, kv heads * head_dim] */
    float *x, *xn, *q, *k, *v, *att;    /* [n_ctx, d_model] or narrower */
    float *gate, *up, *act, *out;       /* [n_ctx, ffn or d_model] */
    float *logits;                      /* [n_ctx, vocab] */
    trace_fn trace;
    void *trace_user;
};

struct context *context_new(const struct model *m, int n_threads);
void context_free(struct context *c);

/* Runs n tokens at positions pos, pos + 1, ...; returns the logits of tokens
 * first .. n-1 as [n - first, vocab], or NULL where they do not fit the context. */
const float *forward(struct context *c, const int *tokens, int n, int pos, int first);

#endif
