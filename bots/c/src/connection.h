#ifndef REFEREEBOT_CONNECTION_H
#define REFEREEBOT_CONNECTION_H

#include <stdbool.h>

typedef struct connection {
    const char *address; /* HOST:PORT; NULL: stdin and stdout */
    const char *name;    /* overrides the bot's name */
    char *token;         /* NULL: none */
    int input, output;   /* file descriptors */
} connection;

/* Reads the options of the connection and passes over others. False, with a reason on stderr, if they make no sense. */
bool connection_read(connection *connection, int argc, char **argv);

/* Opens it. False, with a reason on stderr, if the referee cannot be reached. */
bool connection_open(connection *connection);

#endif
