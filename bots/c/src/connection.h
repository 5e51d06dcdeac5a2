#ifndef REFEREEBOT_CONNECTION_H
#define REFEREEBOT_CONNECTION_H

#include <stdbool.h>

typedef struct connection {
    const char *address; /* HOST:PORT; NULL: stdin and stdout */
    const char *name;    /* the bot's, where it is not to have its own */
    char *token;         /* NULL: none */
    int input, output;   /* file descriptors */
} connection;

/* Reads the options of the connection and passes over others. False, with a reason on stderr, if they make no sense. */
bool connection_read(connection *connection, int argc, char **argv);

/* Opens it. False, with a reason on stderr, if the referee cannot be reached. */
bool connection_open(connection *connection);

#endif
