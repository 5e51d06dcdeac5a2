/* Connects again after a lost connection. */
#ifndef REFEREEBOT_RECONNECT_H
#define REFEREEBOT_RECONNECT_H

#include <stdbool.h>
#include <time.h>

#include "connection.h"

enum { INSTANCE = 17 };

typedef struct { /* A lost connection. */
    struct timespec since;
    double delay; /* seconds before the next attempt */
} loss;

/* Writes what all connections of this process have in common. False if there is no randomness. */
bool loss_instance(char instance[INSTANCE]);

void loss_begin(loss *loss);

/* Opens the connection again. False if that fails for too long. */
bool loss_reconnect(loss *loss, connection *connection);

#endif
