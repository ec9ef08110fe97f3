/* Connections of clients, each with one to the server: bytes are cut into messages of HTTP. See README.md. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "walk.h"

#define LENGTH "content-length"

typedef void (*reader)(int number, const char *body, int length);

typedef struct side {
    int fd, number, is_server;
    struct side *other;
    char *bytes;
    size_t have, room;
} side;

static int poll_fd, next_number;

static struct sockaddr_in local(int port) {
    struct sockaddr_in address = {0};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static side *add(int fd, int is_server) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    side *one = calloc(1, sizeof *one);
    one->fd = fd;
    one->is_server = is_server;
    one->number = next_number;
    one->bytes = malloc(one->room = 1 << 17);
    struct epoll_event event = {EPOLLIN, {.ptr = one}};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
    return one;
}

static void admit(int listener, int server_port) {
    int client = accept(listener, 0, 0), server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = local(server_port);
    if (client < 0 || server < 0 || connect(server, (void *)&address, sizeof address)) {
        close(client);
        close(server);
        return;
    }
    side *down = add(client, 0), *up = add(server, 1);
    down->other = up;
    up->other = down;
    next_number++;
}

/* The length of the whole message at the beginning, 0 if it is not complete; every field's name is looked at. */
static size_t message(const side *one, size_t *body) {
    const char *end = memmem(one->bytes, one->have, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t length = 0;
    *body = end + 4 - one->bytes;
    const char *line = (const char *)memchr(one->bytes, '\n', *body) + 1;
    while (line < end) {
        const char *stop = memchr(line, '\r', end + 2 - line), *colon = memchr(line, ':', stop - line);
        if (colon && colon - line == sizeof LENGTH - 1 && !strncasecmp(line, LENGTH, sizeof LENGTH - 1))
            length = strtoul(colon + 1, 0, 10);
        line = stop + 2;
    }
    return one->have >= *body + length ? *body + length : 0;
}

static void drop(side *one) {
    /* The structures stay: further events of this turn may name them. */
    epoll_ctl(poll_fd, EPOLL_CTL_DEL, one->fd, 0);
    close(one->fd);
    one->fd = -1;
}

static void pass(side *one, int walks, reader read_client, reader read_server) {
    if (one->fd < 0) return;
    if (one->have == one->room) one->bytes = realloc(one->bytes, one->room *= 2);
    ssize_t got = recv(one->fd, one->bytes + one->have, one->room - one->have, 0);
    if (got <= 0) {
        drop(one->other);
        drop(one);
        return;
    }
    one->have += got;
    reader read_body = one->is_server ? read_server : read_client;
    for (size_t body, length; (length = message(one, &body));) {
        if (walks) walk(one->bytes + body, length - body);
        if (read_body) read_body(one->number, one->bytes + body, (int)(length - body));
        send(one->other->fd, one->bytes, length, MSG_NOSIGNAL);
        memmove(one->bytes, one->bytes + length, one->have -= length);
    }
}

void run(int port, int server_port, int walks, reader read_client, reader read_server) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = local(port);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 512)) return;
    poll_fd = epoll_create1(0);
    struct epoll_event event = {EPOLLIN, {.ptr = 0}}, events[256];
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(poll_fd, events, 256, -1);
        for (int at = 0; at < count; at++)
            if (events[at].data.ptr) pass(events[at].data.ptr, walks, read_client, read_server);
            else admit(listener, server_port);
    }
}
