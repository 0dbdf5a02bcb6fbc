/* bench: tokens per second, for a prompt and for generation.
 *
 * Each figure is the best of several repeats: what else runs on the machine
 * can only make a repeat slower, and short repeats find a quiet moment. */
#include "args.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int argmax(const float *v, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (v[i] > v[best])
            best = i;
    return best;
}

/* Seconds for a prompt of n tokens. */
static double prefill(struct context *c, const int *prompt, int n)
{
    const double begin = now();

    forward(c, prompt, n, 0, n - 1);
    return now() - begin;
}

/* Seconds for n tokens that follow <bos>, each the likeliest. */
static double decode(struct context *c, int n)
{
    int token = TOKEN_BOS;
    const double begin = now();

    for (int pos = 0; pos < n; pos++)
        token = argmax(forward(c, &token, 1, pos, 0), c->model->vocab.size);
    return now() - begin;
}

static double min_double(double a, double b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    const char *model = NULL;
    int threads = 1, repeat = 20, tokens = 32;
    const struct option_spec specs[] = {
        { .name = "--model", .text = &model },     { .name = "--threads", .number = &threads },
        { .name = "--repeat", .number = &repeat }, { .name = "--tokens", .number = &tokens },
        { 0 },
    };
    int prompt[ENGINE_MAX_CTX] = { TOKEN_BOS };
    double best_prefill = 1e9, best_decode = 1e9;

    parse_options(argc, argv, 1, specs);
    require_option("--model", model);
    struct context *c = open_context(model, threads);
    if (tokens > c->model->n_ctx) {
        fprintf(stderr, "--tokens: at most %d with this model\n", c->model->n_ctx);
        return 2;
    }
    for (int i = 1; i < tokens; i++)
        prompt[i] = i * 37 % c->model->vocab.size;
    for (int i = 0; i < repeat; i++) {
        best_prefill = min_double(best_prefill, prefill(c, prompt, tokens));
        best_decode = min_double(best_decode, decode(c, tokens));
    }
    print_launch();
    printf("prefill: %.1f tokens per second\n", tokens / best_prefill);
    printf("decode: %.1f tokens per second\n", tokens / best_decode);
    return 0;
}
