/* Two pipes to a server: bytes are cut into lines, and lines are passed on. See README.md. */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "walk.h"

typedef void (*reader)(const char *line, int length);

typedef struct {
    int from, to;
    reader read_line; /* NULL: it is not read. */
    char *bytes;
    size_t have, searched, room;
} side;

static int write_all(int to, const char *bytes, size_t length) {
    while (length) {
        ssize_t written = write(to, bytes, length);
        if (written <= 0) return 0;
        bytes += written;
        length -= written;
    }
    return 1;
}

static int pass(side *one, int walks) {
    if (one->room - one->have < 1 << 16) one->bytes = realloc(one->bytes, one->room += 1 << 20);
    ssize_t got = read(one->from, one->bytes + one->have, one->room - one->have);
    if (got <= 0) return 0;
    one->have += got;
    size_t begin = 0;
    for (char *feed; (feed = memchr(one->bytes + one->searched, '\n', one->have - one->searched));) {
        size_t end = feed - one->bytes;
        if (walks) walk(one->bytes + begin, end - begin);
        if (one->read_line) one->read_line(one->bytes + begin, (int)(end - begin));
        begin = one->searched = end + 1;
    }
    if (begin && !write_all(one->to, one->bytes, begin)) return 0;
    memmove(one->bytes, one->bytes + begin, one->have - begin);
    one->have -= begin;
    one->searched = one->have;
    return 1;
}

void run(int to_server, int from_server, int walks, reader read_client, reader read_server) {
    side down = {0, to_server, read_client, 0, 0, 0, 0}, up = {from_server, 1, read_server, 0, 0, 0, 0};
    struct pollfd watched[2] = {{0, POLLIN, 0}, {from_server, POLLIN, 0}};
    while (poll(watched, 2, -1) > 0) {
        if (watched[1].revents && !pass(&up, walks)) return;
        if (watched[0].revents && !pass(&down, walks)) {
            close(to_server);
            watched[0].fd = -1;
        }
    }
}
