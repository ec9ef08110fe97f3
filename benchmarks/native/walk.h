/* Looks at each byte of a message as a parser of JSON has to, and keeps nothing. */

#include <stddef.h>

/* The bytes that end a run within a string, and between strings. */
static const unsigned char IN_STRING[256] = {['"'] = 1, ['\\'] = 1};
static const unsigned char OUTSIDE[256] = {['"'] = 1, ['{'] = 1, ['}'] = 1, ['['] = 1, [']'] = 1, [','] = 1, [':'] = 1};

static volatile size_t walked;

static void walk(const char *line, size_t length) {
    const unsigned char *at = (const unsigned char *)line, *end = at + length;
    size_t values = 0;
    while (at < end) {
        if (!OUTSIDE[*at]) {
            at++;
        } else if (*at++ != '"') {
            values++;
        } else {
            for (values++; at < end; at++) {
                while (at < end && !IN_STRING[*at]) at++;
                if (at >= end || *at == '"') break;
                at++;
            }
            at++;
        }
    }
    walked += values;
}
