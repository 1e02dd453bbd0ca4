/* bare-http2: the floor of a load generator over HTTP/2; built with -DTLS (and -lssl -lcrypto) over TLS 1.3.
 *
 * Edge-triggered epoll, one receive and one send a batch; frames are counted by their heads and nothing in them is
 * read. It trusts that an answer ends with a frame of its stream that says so, and that windows of 2^31 - 1 last.
 * Over TLS it trusts any certificate and takes the cipher that the server picks. Which of the two it speaks is settled
 * when it is built, so that the one without TLS needs no OpenSSL.
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
#ifdef TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
#define SCHEME 0x87 /* https, in the table of RFC 7541, appendix A */
#else
#define SCHEME 0x86 /* http */
#endif

#define HEAD 9
#define MOST_STREAMS 1000
#define PATIENCE_S 10

struct connection {
    int fd;
    long first; /* requests to begin with */
    unsigned next_id;
    long skip;                 /* of a payload that is not here yet */
    unsigned char head[HEAD];  /* of a frame that came in pieces */
    int head_bytes;
#ifdef TLS
    SSL *tls;
#endif
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

/* HEADERS with END_STREAM and END_HEADERS: GET, the scheme, and literals without indexing (RFC 7541, 6.2.2). */
static void prepare(const char *target, const char *authority) {
    memcpy(request, "\0\0\0\x01\x05\0\0\0\0\x82", HEAD + 1);
    request[HEAD + 1] = SCHEME;
    request_bytes = HEAD + 2;
    literal(0x04, target);
    literal(0x01, authority);
    request[2] = (unsigned char)(request_bytes - HEAD);
}

static void transmit(struct connection *c, const unsigned char *bytes, long length) {
    if (length && send(c->fd, bytes, (size_t)length, MSG_NOSIGNAL) != length) fail("send");
}

#ifdef TLS
/* OpenSSL's own way to a socket receives a record's head, then its body, then once more in vain, and sends each record
 * by itself. This one hands on what one receive brought and gathers what one send takes. Both are used up before the
 * next connection's slice, so that all share them. */
static const unsigned char *incoming;
static long incoming_bytes, outgoing_bytes;
static unsigned char outgoing[MOST_STREAMS * sizeof request + 16 * 1024];

static void fail_tls(const char *what) {
    const char *why = ERR_reason_error_string(ERR_peek_last_error());
    fprintf(stderr, "bare-http2: %s: %s\n", what, why ? why : "OpenSSL does not say why");
    exit(2);
}

static int hand_on(BIO *bio, char *into, int most) {
    int length = incoming_bytes < most ? (int)incoming_bytes : most;
    BIO_clear_retry_flags(bio);
    if (!length) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(into, incoming, (size_t)length);
    incoming += length;
    incoming_bytes -= length;
    return length;
}

static int gather(BIO *bio, const char *bytes, int length) {
    (void)bio;
    if (length > (long)sizeof outgoing - outgoing_bytes) fail("too much for one send");
    memcpy(outgoing + outgoing_bytes, bytes, (size_t)length);
    outgoing_bytes += length;
    return length;
}

static long control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH; /* the one that a handshake insists on */
}

static SSL *new_tls(void) {
    static SSL_CTX *context;
    static BIO_METHOD *method;
    if (!context) {
        context = SSL_CTX_new(TLS_client_method());
        method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "batch");
        if (!context || !method || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)) fail_tls("TLS");
        if (SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\2h2", 3)) fail_tls("ALPN");
        BIO_meth_set_read(method, hand_on);
        BIO_meth_set_write(method, gather);
        BIO_meth_set_ctrl(method, control);
    }
    SSL *tls = SSL_new(context);
    BIO *bio = BIO_new(method);
    if (!tls || !bio) fail_tls("TLS");
    BIO_set_init(bio, 1);
    SSL_set_bio(tls, bio, bio);
    SSL_set_connect_state(tls);
    return tls;
}

static void write_out(struct connection *c, const unsigned char *bytes, long length) {
    if (length && SSL_write(c->tls, bytes, (int)length) <= 0) fail_tls("SSL_write");
    transmit(c, outgoing, outgoing_bytes);
    outgoing_bytes = 0;
}
#else
#define write_out transmit
#endif

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
    write_out(c, out, length);
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

#ifdef TLS
/* Whether the handshake is over; the first requests go with its last message. */
static int shake_hands(struct connection *c) {
    int over = SSL_do_handshake(c->tls);
    if (over != 1) {
        if (SSL_get_error(c->tls, over) != SSL_ERROR_WANT_READ) fail_tls("handshake");
        write_out(c, NULL, 0);
        return 0;
    }
    const unsigned char *protocol;
    unsigned length;
    SSL_get0_alpn_selected(c->tls, &protocol, &length);
    if (length != 2 || memcmp(protocol, "h2", 2)) fail("the server does not choose h2");
    ask(c, c->first, 0, 1);
    return 1;
}

static void begin(struct connection *c) {
    c->tls = new_tls();
    shake_hands(c);
}

static long read_in(struct connection *c, const unsigned char *bytes, long length, int *settings) {
    static unsigned char plain[SSL3_RT_MAX_PLAIN_LENGTH];
    long count = 0;
    incoming = bytes;
    incoming_bytes = length;
    if (!SSL_is_init_finished(c->tls) && !shake_hands(c)) return 0;
    /* A read takes a whole record: with nothing left to hand on, another one would be in vain. */
    while (incoming_bytes) {
        int got = SSL_read(c->tls, plain, sizeof plain);
        if (got > 0)
            count += ended(c, plain, got, settings);
        else if (SSL_get_error(c->tls, got) != SSL_ERROR_WANT_READ)
            fail_tls("SSL_read");
    }
    return count;
}
#else
static void begin(struct connection *c) { ask(c, c->first, 0, 1); }
#define read_in ended
#endif

static struct connection *open_connection(const struct sockaddr_in *to, long first) {
    struct connection *c = calloc(1, sizeof *c);
    struct timeval patience = {.tv_sec = PATIENCE_S}; /* for a peer that takes nothing */
    int yes = 1;
    if (!c || (c->fd = socket(AF_INET, SOCK_STREAM, 0)) < 0) fail("socket");
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(c->fd, (const struct sockaddr *)to, sizeof *to)) fail("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    c->first = first;
    c->next_id = 1;
    return c;
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
        struct connection *c = open_connection(&to, streams < left ? streams : left);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event)) fail("epoll_ctl");
        left -= c->first;
        begin(c);
    }
    while (done < asked) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, PATIENCE_S * 1000);
        if (ready <= 0) fail("no answer for ten seconds");
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            ssize_t got;
            do {
                got = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
                if (got < 0 && errno == EAGAIN) break;
                if (got <= 0) fail("recv");
                int settings = 0;
                long answers = read_in(c, buffer, got, &settings);
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
