#include "npy.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 128 };

static int write_floats(FILE *f, const float *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        const uint8_t b[4] = { bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff, bits >> 24 };
        if (fwrite(b, 1, sizeof b, f) != sizeof b)
            return -1;
    }
    return 0;
}

int npy_write(const char *path, const float *data, int rows, int cols)
{
    char header[HEADER + 1];
    FILE *f = fopen(path, "wb");

    if (!f) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return -1;
    }
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER - 10);
    header[9] = 0;
    const int n = snprintf(header + 10, HEADER - 10,
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols);
    header[10 + n] = ' ';
    header[HEADER - 1] = '\n';
    int failed = fwrite(header, 1, HEADER, f) != HEADER;
    failed |= write_floats(f, data, (size_t)rows * cols);
    failed |= fclose(f);
    if (failed)
        fprintf(stderr, "%s: cannot be written\n", path);
    return failed ? -1 : 0;
}
