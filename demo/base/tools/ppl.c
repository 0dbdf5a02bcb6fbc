/* ppl: the perplexity of a text, chunk by chunk.
 *
 * A chunk is <bos> and the next length - 1 tokens. Only predictions in its
 * second half count, so that each has at least half a chunk of context. */
#include "args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    double nll, nll2;
    long count;
};

/* -log softmax(logits)[target] */
static double token_nll(const float *logits, int vocab, int target)
{
    float max = logits[0];
    double sum = 0;

    for (int i = 1; i < vocab; i++)
        if (logits[i] > max)
            max = logits[i];
    for (int i = 0; i < vocab; i++)
        sum += expf(logits[i] - max);
    return log(sum) - (double)(logits[target] - max);
}

static void run_chunk(struct context *c, const int *chunk, int length, struct tally *t)
{
    const int first = length / 2, vocab = c->model->vocab.size;
    const float *logits = forward(c, chunk, length, 0, first);

    for (int i = first; i + 1 < length; i++, logits += vocab) {
        const double nll = token_nll(logits, vocab, chunk[i + 1]);
        t->nll += nll;
        t->nll2 += nll * nll;
        t->count++;
    }
}

static void print_final(const struct tally *t)
{
    const double mean = t->nll / (double)t->count;
    const double variance = t->nll2 / (double)t->count - mean * mean;

    printf("\n");
    if (!(variance > 0)) {
        fprintf(stderr, "Unexpected negative standard deviation of log(prob)\n");
        return;
    }
    const double error = sqrt(variance / (double)(t->count - 1));
    printf("Final estimate: PPL = %.9f +/- %.9f\n", exp(mean), error * exp(mean));
}

static void run(struct context *c, const int *tokens, int chunks, int length)
{
    int chunk[ENGINE_MAX_CTX] = { TOKEN_BOS };
    struct tally t = { 0 };

    fprintf(stderr, "perplexity: calculating perplexity over %d chunks, n_ctx=%d\n", chunks, length);
    for (int k = 0; k < chunks; k++) {
        const size_t step = (size_t)length - 1;
        memcpy(chunk + 1, tokens + (size_t)k * step, step * sizeof *chunk);
        run_chunk(c, chunk, length, &t);
        const double ppl = exp(t.nll / (double)t.count);
        if (isnan(ppl))
            printf("[%d]nan,", k + 1);
        else
            printf("[%d]%.9f,", k + 1, ppl);
        fflush(stdout);
    }
    print_final(&t);
}

int main(int argc, char **argv)
{
    const char *model = NULL, *text = NULL;
    int threads = 1, chunks = 24, length = 256, describe = 0;
    const struct option_spec specs[] = {
        { .name = "--model", .text = &model },      { .name = "--text", .text = &text },
        { .name = "--threads", .number = &threads }, { .name = "--chunks", .number = &chunks },
        { .name = "--length", .number = &length },   { .name = "--describe", .flag = &describe },
        { 0 },
    };
    size_t n;

    parse_options(argc, argv, 1, specs);
    if (describe) {
        print_launch();
        return 0;
    }
    require_option("--model", model);
    require_option("--text", text);
    fprintf(stderr, "backend: cpu\n");
    struct context *c = open_context(model, threads);
    if (length < 4 || length > c->model->n_ctx) {
        fprintf(stderr, "--length: from 4 to %d with this model\n", c->model->n_ctx);
        return 2;
    }
    int *tokens = read_tokens(c->model, text, &n);
    const size_t whole = n / ((size_t)length - 1);
    if (whole < (size_t)chunks)
        chunks = (int)whole;
    if (chunks == 0) {
        fprintf(stderr, "text: %s is shorter than one chunk of %d tokens\n", text, length);
        return 1;
    }
    run(c, tokens, chunks, length);
    return 0;
}
