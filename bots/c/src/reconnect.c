#define _POSIX_C_SOURCE 200809L

#include "reconnect.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

static const double FIRST_DELAY = 0.5;      /* seconds before the first attempt, doubled with each further one */
static const double MOST_DELAY = 5;         /* seconds: the referee may be back just before it stops waiting */
static const double RECONNECT_TIMEOUT = 60; /* seconds after which the referee does not wait any more */

static bool random_bytes(unsigned char *bytes, size_t length) {
    FILE *source = fopen("/dev/urandom", "r");
    bool is_read = source && fread(bytes, 1, length, source) == length;
    if (source) fclose(source);
    return is_read;
}

bool loss_instance(char instance[INSTANCE]) {
    unsigned char bytes[(INSTANCE - 1) / 2];
    if (!random_bytes(bytes, sizeof bytes)) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(instance + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static double elapsed(const loss *loss) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - loss->since.tv_sec) + (double)(now.tv_nsec - loss->since.tv_nsec) / 1e9;
}

static void sleep_for(double seconds) {
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

void loss_begin(loss *loss) {
    fputs("refereebot: the connection to the referee is lost; connecting again\n", stderr);
    clock_gettime(CLOCK_MONOTONIC, &loss->since);
    loss->delay = FIRST_DELAY;
}

bool loss_reconnect(loss *loss, connection *connection) {
    for (;;) {
        unsigned char byte = 128;
        random_bytes(&byte, 1);
        double wait = loss->delay * (0.75 + byte / 510.0);
        if (elapsed(loss) + wait > RECONNECT_TIMEOUT) {
            fprintf(stderr, "refereebot: the referee cannot be reached within %.0f s\n", RECONNECT_TIMEOUT);
            return false;
        }
        sleep_for(wait);
        loss->delay = 2 * loss->delay < MOST_DELAY ? 2 * loss->delay : MOST_DELAY;
        if (connection_open(connection)) {
            fprintf(stderr, "refereebot: connected again after %.1f s\n", elapsed(loss));
            return true;
        }
    }
}
