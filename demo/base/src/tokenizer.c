#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* The longest token that text starts with, or TOKEN_UNKNOWN. */
static int longest_match(const struct vocab *v, const char *text, size_t size)
{
    int best = TOKEN_UNKNOWN;
    size_t best_length = 0;

    for (int id = 0; id < v->size; id++) {
        const size_t length = v->length[id];
        if (length <= best_length || length > size || v->bytes[id][0] != text[0])
            continue;
        if (memcmp(v->bytes[id], text, length) == 0) {
            best = id;
            best_length = length;
        }
    }
    return best;
}

int *tokenize(const struct vocab *v, const char *text, size_t size, size_t *n)
{
    int *tokens = malloc((size + 1) * sizeof *tokens);

    *n = 0;
    if (!tokens)
        return NULL;
    for (size_t at = 0; at < size;) {
        const int id = longest_match(v, text + at, size - at);
        tokens[(*n)++] = id;
        at += id == TOKEN_UNKNOWN ? 1 : v->length[id];
    }
    return tokens;
}
