/* Runs a bot as a process, which the referee starts or which connects to the referee. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connection.h"
#include "reconnect.h"
#include "session.h"

/* Refuses here, with a reason, what the referee would refuse after its start-up limit. */
static bool is_allowed(const char *name) {
    size_t length = name ? strlen(name) : 0;
    const char *allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._- ";
    if (length >= 1 && length <= 64 && strspn(name, allowed) == length) return true;
    fprintf(stderr, "refereebot: name '%s': must be 1 to 64 of ASCII letters, digits, '.', '_', '-' and space\n",
            name ? name : "");
    return false;
}

/* Writes a message as one line. False if the reader has closed the stream. */
static bool send_line(int output, const cJSON *message) {
    char *text = cJSON_PrintUnformatted(message);
    if (!text) abort();
    size_t length = strlen(text), sent = 0;
    text[length++] = '\n'; /* where the end of the text was: it is a line now */
    while (sent < length) {
        ssize_t n = write(output, text + sent, length - sent);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) sent += (size_t)n;
    }
    cJSON_free(text);
    return sent == length;
}

static void serve(session *session, FILE *input, int output) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while (!session->is_over && (length = getline(&line, &capacity, input)) > 0 && line[length - 1] == '\n') {
        if (line[strspn(line, " \t\r\n")] == '\0') continue;
        cJSON *message = cJSON_ParseWithLength(line, (size_t)length); /* takes off a byte order mark */
        cJSON *answer = NULL;
        if (cJSON_IsObject(message)) answer = session_handle(session, message);
        else fputs("refereebot: skipped a line that is no JSON object\n", stderr);
        bool is_heard = !answer || send_line(output, answer);
        cJSON_Delete(answer);
        cJSON_Delete(message);
        if (!is_heard) break;
    }
    free(line);
}

int referee_run(const referee_bot *bot, int argc, char **argv) {
    connection connection = {0};
    if (!connection_read(&connection, argc, argv)) return 2;
    session session = {
        .bot = bot,
        .name = connection.name ? connection.name : bot->name,
        .token = connection.token,
    };
    int status = 1;
    if (is_allowed(session.name) && connection_open(&connection)) {
        char instance[INSTANCE];
        if (connection.address && loss_instance(instance)) session.instance = instance;
        loss loss = {0};
        bool is_open = true;
        while (is_open) {
            FILE *input = fdopen(connection.input, "r");
            if (!input) abort();
            session.has_heard = false;
            serve(&session, input, connection.output);
            if (connection.output != connection.input) close(connection.output);
            fclose(input);
            if (session.is_over || !session.reconnects) break;
            if (session.has_heard) loss_begin(&loss);
            is_open = loss_reconnect(&loss, &connection);
        }
        bool is_refused = session.is_refused && !session.has_started;
        if (is_refused) fputs("refereebot: the referee refused the bot, for the reason above\n", stderr);
        status = is_refused ? 1 : 0;
    }
    session_clear(&session);
    free(connection.token);
    return status;
}
