/* The floor: what any process between two pipes costs. poll, read, write, and nothing else. */

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[65536];

static int copy(int from, int to) {
    ssize_t got = read(from, buffer, sizeof buffer);
    if (got <= 0) return 0;
    for (ssize_t at = 0; at < got;) {
        ssize_t written = write(to, buffer + at, got - at);
        if (written <= 0) return 0;
        at += written;
    }
    return 1;
}

int main(int count, char **words) {
    int down[2], up[2];
    if (count < 2 || pipe(down) || pipe(up)) return 2;
    if (!fork()) {
        dup2(down[0], 0);
        dup2(up[1], 1);
        close(down[0]), close(down[1]), close(up[0]), close(up[1]);
        execvp(words[1], words + 1);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    struct pollfd watched[2] = {{0, POLLIN, 0}, {up[0], POLLIN, 0}};
    while (poll(watched, 2, -1) > 0) {
        if (watched[1].revents && !copy(up[0], 1)) break;
        if (watched[0].revents && !copy(0, down[1])) {
            close(down[1]);
            watched[0].fd = -1;
        }
    }
    wait(0);
    return 0;
}
