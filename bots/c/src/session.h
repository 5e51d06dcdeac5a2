#ifndef REFEREEBOT_SESSION_H
#define REFEREEBOT_SESSION_H

#include "refereebot.h"

typedef struct play play;

typedef struct session { /* A bot's side of the protocol, without I/O. */
    const referee_bot *bot;
    const char *name, *token;
    play *plays;
    bool is_over; /* the referee has said its last bye */
    const char *instance; /* what all connections of the process have in common; NULL: a match ends with its own */
    bool reconnects;      /* the matches go on when the connection is lost and the bot connects again */
    bool has_heard;       /* there was a message on this connection */
    bool has_started; /* a match has started */
    bool is_refused; /* the referee's last message but bye was an error, which is logged */
} session;

/* Handles a message and returns the answer, which the caller deletes; NULL if it asks for none. Unknown ones are ignored. */
cJSON *session_handle(session *session, cJSON *message);

void session_clear(session *session);

#endif
