#include "f16.h"

#include <math.h>

float f16_to_f32(uint16_t h)
{
    const int exponent = h >> 10 & 0x1f;
    const int mantissa = h & 0x3ff;
    float v;

    if (exponent == 0)
        v = ldexpf((float)mantissa, -24);
    else if (exponent == 31)
        v = mantissa ? NAN : INFINITY;
    else
        v = ldexpf((float)(mantissa + 0x400), exponent - 25);
    return h & 0x8000 ? -v : v;
}
