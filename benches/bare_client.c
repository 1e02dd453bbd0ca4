/* bare-client: the floor a load generator stands on.
 *
 * Edge-triggered epoll and nothing else: one receive and one send a request, no parsing, no timing, no statistics.
 * It trusts that every answer is exactly ANSWER_BYTES long, which the benchmark has looked up beforehand.
 *
 *     bare-client PORT TARGET CONNECTIONS REQUESTS ANSWER_BYTES
 *
 * Prints the number of answers read and the wall time in nanoseconds. Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct connection {
    int fd;
    long due_bytes; /* of the answer in flight */
};

static void fail(const char *what) {
    fprintf(stderr, "bare-client: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: bare-client PORT TARGET CONNECTIONS REQUESTS ANSWER_BYTES\n");
        return 2;
    }
    int port = atoi(argv[1]), count = atoi(argv[3]);
    long requests = atol(argv[4]), answer_bytes = atol(argv[5]), sent = 0, answered = 0;
    static char buffer[1 << 16];
    char request[1024];
    int request_bytes = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", argv[2], port);
    struct connection *connections = calloc(count, sizeof *connections);
    struct epoll_event *events = calloc(count, sizeof *events);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0 || !connections || !events) fail("start");
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &connections[i]};
        connections[i].fd = connect_to(port);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) < 0) fail("epoll_ctl");
    }
    long long start_ns = now_ns();
    for (int i = 0; i < count && sent < requests; i++, sent++) {
        connections[i].due_bytes = answer_bytes;
        if (send(connections[i].fd, request, request_bytes, MSG_NOSIGNAL) != request_bytes) fail("send");
    }
    while (answered < requests) {
        int ready = epoll_wait(epoll, events, count, -1);
        if (ready < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            ssize_t got;
            do { /* a short receive has emptied the socket */
                got = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
                if (got == 0) { errno = ECONNRESET; fail("recv"); }
                if (got < 0 && errno != EAGAIN) fail("recv");
                if (got > 0) connection->due_bytes -= got;
            } while (got == sizeof buffer);
            if (connection->due_bytes > 0) continue;
            if (connection->due_bytes < 0) { errno = EPROTO; fail("an answer is longer than ANSWER_BYTES"); }
            if (++answered, sent >= requests) continue;
            connection->due_bytes = answer_bytes;
            sent++;
            if (send(connection->fd, request, request_bytes, MSG_NOSIGNAL) != request_bytes) fail("send");
        }
    }
    printf("%ld %lld\n", answered, now_ns() - start_ns);
    return 0;
}
