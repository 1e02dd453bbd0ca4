/* bare-http2: the floor of a load generator over HTTP/2 without TLS.
 *
 * Edge-triggered epoll, one receive and one send a batch; frames are counted by their heads and nothing in them is
 * read. It trusts that an answer ends with a frame of its stream that says so, and that windows of 2^31 - 1 last.
 *
 *     bare-http2 PORT TARGET CONNECTIONS STREAMS REQUESTS
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

#define HEAD 9
#define MOST_STREAMS 1000

struct connection {
    int fd;
    unsigned next_id;
    long skip;                 /* of a payload that is not here yet */
    unsigned char head[HEAD];  /* of a frame that came in pieces */
    int head_bytes;
};

static const char GREETING[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                               "\0\0\x0c\x04\0\0\0\0\0\0\x02\0\0\0\0\0\x04\x7f\xff\xff\xff"
                               "\0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0";
static const char SETTINGS_ACK[] = "\0\0\0\x04\x01\0\0\0\0";
static unsigned char request[512];
static long request_bytes;

static void fail(const char *what) {
    fprintf(stderr, "bare-http2: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void literal(int name, const char *value) {
    size_t length = strlen(value);
    if (length > 120) fail("the target is too long");
    request[request_bytes++] = (unsigned char)name;
    request[request_bytes++] = (unsigned char)length;
    memcpy(request + request_bytes, value, length);
    request_bytes += (long)length;
}

/* HEADERS with END_STREAM and END_HEADERS: GET, http, and literals without indexing (RFC 7541, 6.2.2). */
static void prepare(const char *target, const char *authority) {
    memcpy(request, "\0\0\0\x01\x05\0\0\0\0\x82\x86", HEAD + 2);
    request_bytes = HEAD + 2;
    literal(0x04, target);
    literal(0x01, authority);
    request[2] = (unsigned char)(request_bytes - HEAD);
}

static void ask(struct connection *c, long count, int answers_settings, int greets) {
    static unsigned char out[64 + MOST_STREAMS * sizeof request];
    long length = 0;
    if (greets) {
        memcpy(out, GREETING, sizeof GREETING - 1);
        length = sizeof GREETING - 1;
    }
    if (answers_settings) {
        memcpy(out + length, SETTINGS_ACK, sizeof SETTINGS_ACK - 1);
        length += (long)sizeof SETTINGS_ACK - 1;
    }
    for (; count > 0; count--, c->next_id += 2) {
        unsigned id = htonl(c->next_id);
        memcpy(out + length, request, (size_t)request_bytes);
        memcpy(out + length + 5, &id, 4);
        length += request_bytes;
    }
    if (length && send(c->fd, out, (size_t)length, MSG_NOSIGNAL) != length) fail("send");
}

/* How many answers end in these bytes; whether the peer's SETTINGS are among them. */
static long ended(struct connection *c, const unsigned char *bytes, long length, int *settings) {
    long count = 0, at = 0;
    while (at < length) {
        if (c->skip) {
            long skipped = c->skip < length - at ? c->skip : length - at;
            c->skip -= skipped;
            at += skipped;
            continue;
        }
        c->head[c->head_bytes++] = bytes[at++];
        if (c->head_bytes < HEAD) continue;
        c->head_bytes = 0;
        c->skip = (long)c->head[0] << 16 | (long)c->head[1] << 8 | c->head[2];
        if (c->head[3] <= 1 && c->head[4] & 1) count++;
        if (c->head[3] == 4 && !(c->head[4] & 1)) *settings = 1;
        if (c->head[3] == 7) fail("GOAWAY");
    }
    return count;
}

int main(int count, char **words) {
    if (count != 6) return 2;
    long connections = atol(words[3]), streams = atol(words[4]), left = atol(words[5]), asked = left, done = 0;
    if (streams > MOST_STREAMS) fail("too many streams");
    char authority[32];
    snprintf(authority, sizeof authority, "127.0.0.1:%s", words[1]);
    prepare(words[2], authority);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int poll = epoll_create1(0);
    static unsigned char buffer[64 * 1024];
    struct timespec from, until;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < connections; i++) {
        struct connection *c = calloc(1, sizeof *c);
        int yes = 1;
        if (!c || (c->fd = socket(AF_INET, SOCK_STREAM, 0)) < 0) fail("socket");
        if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) fail("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        c->next_id = 1;
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event)) fail("epoll_ctl");
        long first = streams < left ? streams : left;
        left -= first;
        ask(c, first, 0, 1);
    }
    while (done < asked) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, 10000);
        if (ready <= 0) fail("no answer for ten seconds");
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            ssize_t got;
            do {
                got = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
                if (got < 0 && errno == EAGAIN) break;
                if (got <= 0) fail("recv");
                int settings = 0;
                long answers = ended(c, buffer, got, &settings);
                long next = answers < left ? answers : left;
                done += answers;
                left -= next;
                ask(c, next, settings, 0);
            } while (got == sizeof buffer);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    printf("%ld %ld\n", done,
           (until.tv_sec - from.tv_sec) * 1000000000L + until.tv_nsec - from.tv_nsec);
    return 0;
}
