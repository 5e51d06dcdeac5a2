/* The connection to the referee: over stdin and stdout, or over TCP. */
#define _POSIX_C_SOURCE 200809L

#include "connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The value of `--name VALUE` or `--name=VALUE` at *at, which moves on to the value. */
static const char *value(const char *name, int argc, char **argv, int *at) {
    size_t length = strlen(name);
    if (strncmp(argv[*at], name, length) != 0) return NULL;
    if (argv[*at][length] == '=') return argv[*at] + length + 1;
    if (argv[*at][length] != '\0' || *at + 1 == argc) return NULL;
    return argv[++*at];
}

/* The text without white space around it; NULL if nothing is left. */
static char *trimmed(const char *text) {
    size_t start = strspn(text, " \t\r\n"), end = strlen(text);
    while (end > start && strchr(" \t\r\n", text[end - 1])) end--;
    return end > start ? strndup(text + start, end - start) : NULL;
}

static bool read_token(connection *connection, const char *file) {
    const char *variable = getenv("REFEREE_TOKEN");
    if (!file) {
        connection->token = variable ? trimmed(variable) : NULL;
        return true;
    }
    char text[4097] = "";
    FILE *stream = fopen(file, "r");
    if (!stream) {
        fprintf(stderr, "refereebot: %s: %s\n", file, strerror(errno));
        return false;
    }
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    connection->token = trimmed(text);
    return true;
}

bool connection_read(connection *connection, int argc, char **argv) {
    const char *file = NULL, *found;
    for (int at = 1; at < argc; at++) {
        if ((found = value("--connect", argc, argv, &at))) connection->address = found;
        else if ((found = value("--name", argc, argv, &at))) connection->name = found;
        else if ((found = value("--token-file", argc, argv, &at))) file = found;
        else if (strcmp(argv[at], "--tls") == 0) {
            fputs("refereebot: no TLS here: let `socat` or `stunnel` encrypt, and connect to it\n", stderr);
            return false;
        }
    }
    const char *colon = connection->address ? strrchr(connection->address, ':') : NULL;
    if (connection->address && (!colon || colon == connection->address || !colon[1])) {
        fprintf(stderr, "refereebot: '%s' is not HOST:PORT\n", connection->address);
        return false;
    }
    return read_token(connection, file);
}

/* Takes stdout for the messages alone: what else is printed must not come between them and goes to stderr. */
static bool take_stdio(connection *connection) {
    fflush(stdout);
    connection->input = STDIN_FILENO;
    connection->output = dup(STDOUT_FILENO);
    return connection->output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

static bool connect_to(connection *connection) {
    const char *colon = strrchr(connection->address, ':'), *start = connection->address, *end = colon;
    if (*start == '[' && end[-1] == ']') start++, end--;
    char *host = strndup(start, (size_t)(end - start));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int problem = getaddrinfo(host, colon + 1, &hints, &found);
    free(host);
    if (problem) {
        fprintf(stderr, "refereebot: %s: %s\n", connection->address, gai_strerror(problem));
        return false;
    }
    int handle = -1, error = 0;
    for (struct addrinfo *next = found; next && handle < 0; next = next->ai_next) {
        handle = socket(next->ai_family, next->ai_socktype, next->ai_protocol);
        if (handle >= 0 && connect(handle, next->ai_addr, next->ai_addrlen) != 0) {
            error = errno;
            close(handle);
            handle = -1;
        }
    }
    freeaddrinfo(found);
    if (handle < 0) {
        fprintf(stderr, "refereebot: %s: %s\n", connection->address, strerror(error));
        return false;
    }
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    connection->input = connection->output = handle;
    return true;
}

bool connection_open(connection *connection) {
    signal(SIGPIPE, SIG_IGN); /* a referee that reads no more is the end, not a crash */
    return connection->address ? connect_to(connection) : take_stdio(connection);
}
