#define _POSIX_C_SOURCE 200809L

#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

struct play { /* One seat in one running match. */
    play *next;
    cJSON *message; /* what `start` points into */
    referee_start start;
    cJSON *ready;  /* the answer to `start` */
    cJSON *events; /* since the previous turn */
    int64_t next_event;
    int64_t asked; /* the last request, -1 before the first, with its answer, which the referee may not have received */
    cJSON *answer;
};

static void log_message(const char *what, const cJSON *message) {
    char *text = cJSON_PrintUnformatted(message);
    fprintf(stderr, "refereebot: %s: %.2000s\n", what, text ? text : "");
    cJSON_free(text);
}

/* cJSON writes no more than 15 digits of a number. */
static void add_integer(cJSON *message, const char *name, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    cJSON_AddRawToObject(message, name, digits);
}

static cJSON *answer(const char *type, const char *match, int seat) {
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", type);
    cJSON_AddStringToObject(message, "match", match);
    cJSON_AddNumberToObject(message, "seat", seat);
    return message;
}

static void add_texts(cJSON *message, const char *name, const char *const *texts) {
    if (!texts) return;
    cJSON *list = cJSON_AddArrayToObject(message, name);
    for (; *texts; texts++) cJSON_AddItemToArray(list, cJSON_CreateString(*texts));
}

static cJSON *hello(const session *session, bool asks_for_token) {
    const referee_bot *bot = session->bot;
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", "hello");
    cJSON_AddNumberToObject(message, "protocol", 1);
    cJSON_AddStringToObject(message, "name", session->name);
    if (bot->version) cJSON_AddStringToObject(message, "version", bot->version);
    if (bot->author) cJSON_AddStringToObject(message, "author", bot->author);
    if (bot->details) cJSON_AddItemToObject(message, "details", cJSON_Duplicate(bot->details, true));
    if (session->token && asks_for_token) cJSON_AddStringToObject(message, "token", session->token);
    if (session->reconnects) cJSON_AddStringToObject(message, "reconnect", session->instance);
    add_texts(message, "games", bot->games);
    if (bot->slots) cJSON_AddNumberToObject(message, "slots", bot->slots);
    add_texts(message, "wants", bot->wants);
    if (bot->push) cJSON_AddTrueToObject(message, "push");
    return message;
}

static play **find(session *session, const char *match, int seat) {
    play **at = &session->plays;
    while (*at && ((*at)->start.seat != seat || strcmp((*at)->start.match, match) != 0)) at = &(*at)->next;
    return at;
}

static void forget(play **at) {
    play *gone = *at;
    *at = gone->next;
    cJSON_Delete(gone->message);
    cJSON_Delete(gone->ready);
    cJSON_Delete(gone->events);
    cJSON_Delete(gone->answer);
    free(gone);
}

static cJSON *start(session *session, const cJSON *message) {
    play *new = calloc(1, sizeof *new);
    if (!new) abort();
    session->has_started = true;
    new->asked = -1;
    new->message = cJSON_Duplicate(message, true);
    new->events = cJSON_CreateArray();
    new->next = session->plays;
    session->plays = new;
    message = new->message;
    referee_start *start = &new->start;
    start->match = text_of(message, "match");
    start->game = text_of(message, "game");
    start->rules = (int)number_of(message, "rules", 0);
    start->options = field(message, "options");
    start->seat = (int)number_of(message, "seat", 0);
    const cJSON *seat;
    cJSON_ArrayForEach(seat, field(message, "seats")) {
        if (start->seat_count == REFEREE_SEATS) break;
        start->names[start->seat_count] = text_of(seat, "name");
        start->teams[start->seat_count++] = (int)number_of(seat, "team", 0);
    }
    const cJSON *clock = field(message, "clock");
    start->has_clock = cJSON_IsObject(clock);
    start->delay_ms = number_of(clock, "delay_ms", 0);
    start->bank_ms = number_of(clock, "bank_ms", 0);
    start->increment_ms = number_of(clock, "increment_ms", 0);
    start->deal = text_of(message, "deal");
    start->commitment = text_of(message, "commitment");
    start->nonce = is_true(message, "nonce");
    start->unlisted = is_true(message, "unlisted");
    const char *nonce = session->bot->start ? session->bot->start(session->bot->data, start) : NULL;
    cJSON *ready = answer("ready", start->match, start->seat);
    if (nonce) cJSON_AddStringToObject(ready, "nonce", nonce);
    new->ready = cJSON_Duplicate(ready, true);
    return ready;
}

static cJSON *reply_to(const referee_turn *turn, referee_reply reply) {
    if (reply.kind == REFEREE_RESIGN) return answer("resign", turn->match, turn->seat);
    bool is_move = reply.kind == REFEREE_MOVE, is_unable = reply.kind == REFEREE_UNABLE;
    cJSON *message = answer(is_move ? "move" : is_unable ? "unable" : "accept_draw", turn->match, turn->seat);
    add_integer(message, "turn", turn->turn);
    if (is_move) {
        cJSON_AddStringToObject(message, "move", reply.move ? reply.move : "");
        if (reply.offer_draw) cJSON_AddTrueToObject(message, "offer_draw");
    }
    if (is_unable) {
        cJSON_AddStringToObject(message, "because", reply.because == REFEREE_UNAVAILABLE ? "unavailable" : "no_legal_move");
    }
    if (reply.info && (is_move || is_unable)) cJSON_AddItemToObject(message, "info", reply.info);
    return message;
}

static cJSON *turn(session *session, play *play, const cJSON *message) {
    int64_t asked = number_of(message, "turn", 0);
    if (asked == play->asked) return cJSON_Duplicate(play->answer, true); /* repeated after a lost connection */
    const cJSON *clock = field(message, "clock"), *retry = field(message, "retry"), *legal = field(message, "legal");
    referee_turn turn = {
        .match = play->start.match,
        .seat = play->start.seat,
        .turn = asked,
        .view = field(message, "view"),
        .has_clock = cJSON_IsObject(clock),
        .bank_ms = number_of(clock, "bank_ms", 0),
        .limit_ms = number_of(clock, "limit_ms", 0),
        .turns_left = number_of(message, "turns_left", -1),
        .draw_offered = is_true(message, "draw_offered"),
        .is_retry = cJSON_IsObject(retry),
        .retry_of = number_of(retry, "of", 0),
        .retry_code = text_of(retry, "code"),
        .retry_message = text_of(retry, "message"),
        .start = &play->start,
        .events = play->events,
    };
    for (int seat = 0; seat < REFEREE_SEATS; seat++) {
        const cJSON *bank = cJSON_GetArrayItem(field(message, "banks_ms"), seat);
        turn.banks_ms[seat] = cJSON_IsNumber(bank) ? (int64_t)bank->valuedouble : -1;
    }
    turn.legal = calloc((size_t)cJSON_GetArraySize(legal) + 1, sizeof *turn.legal);
    if (!turn.legal) abort();
    const cJSON *move;
    cJSON_ArrayForEach(move, legal) turn.legal[turn.legal_count++] = cJSON_GetStringValue(move);
    cJSON *answer = reply_to(&turn, session->bot->choose(session->bot->data, &turn));
    free(turn.legal);
    cJSON_Delete(play->events);
    play->events = cJSON_CreateArray();
    play->asked = asked;
    cJSON_Delete(play->answer);
    play->answer = cJSON_Duplicate(answer, true);
    return answer;
}

static void end(session *session, play **at, const cJSON *message) {
    const cJSON *fault = field(message, "fault"), *ranks = field(message, "ranks"), *scores = field(message, "scores");
    const cJSON *amounts = field(message, "amounts");
    referee_end end = {
        .match = (*at)->start.match,
        .seat = (*at)->start.seat,
        .ended_by = text_of(message, "ended_by"),
        .reason = text_of(message, "reason"),
        .fault_seat = (int)number_of(fault, "seat", -1),
        .fault_code = text_of(fault, "code"),
        .fault_detail = text_of(fault, "detail"),
        .reveal = field(message, "reveal"),
    };
    while (end.seat_count < REFEREE_SEATS && end.seat_count < cJSON_GetArraySize(ranks)) {
        end.ranks[end.seat_count] = cJSON_GetArrayItem(ranks, end.seat_count)->valueint;
        end.scores[end.seat_count] = cJSON_GetNumberValue(cJSON_GetArrayItem(scores, end.seat_count));
        end.amounts[end.seat_count] = cJSON_GetNumberValue(cJSON_GetArrayItem(amounts, end.seat_count));
        end.seat_count++;
    }
    if (session->bot->end) session->bot->end(session->bot->data, &end);
    forget(at);
}

static void event(session *session, play *play, const cJSON *message) {
    int64_t n = number_of(message, "n", play->next_event);
    if (n < play->next_event) return; /* repeated after a lost connection */
    play->next_event = n + 1;
    cJSON *event = cJSON_Duplicate(field(message, "event"), true);
    cJSON_AddItemToArray(play->events, event);
    if (session->bot->event) session->bot->event(session->bot->data, play->start.match, play->start.seat, event);
}

cJSON *session_handle(session *session, cJSON *message) {
    const char *type = text_of(message, "type"), *match = text_of(message, "match");
    if (!type) return NULL;
    session->has_heard = true;
    if (strcmp(type, "bye") != 0) session->is_refused = strcmp(type, "error") == 0;
    if (strcmp(type, "hello") == 0) {
        const char *auth = text_of(message, "auth");
        session->reconnects = session->instance && is_true(message, "reconnect");
        return hello(session, auth && strcmp(auth, "token") == 0);
    }
    if (strcmp(type, "ping") == 0) {
        cJSON *pong = cJSON_CreateObject();
        cJSON_AddStringToObject(pong, "type", "pong");
        add_integer(pong, "id", number_of(message, "id", 0));
        return pong;
    }
    if (strcmp(type, "bye") == 0) {
        const char *reason = text_of(message, "reason");
        /* Over TCP the referee keeps no standard error. */
        if (session->instance) fprintf(stderr, "refereebot: the referee closes the connection: %s\n", reason ? reason : "");
        /* After `bye` with `reconnect` the connection ends, and the bot connects again. */
        session->is_over = !(session->reconnects && is_true(message, "reconnect"));
    }
    if (strcmp(type, "error") == 0) log_message("error", message);
    if (!match) return NULL;
    int seat = (int)number_of(message, "seat", 0);
    play **at = find(session, match, seat);
    if (strcmp(type, "start") == 0) {
        if (*at && is_true(message, "resumed")) return cJSON_Duplicate((*at)->ready, true);
        return start(session, message);
    }
    bool is_event = strcmp(type, "event") == 0, is_turn = strcmp(type, "turn") == 0;
    if (!is_event && !is_turn && strcmp(type, "end") != 0) return NULL;
    if (!*at && !is_event && !is_turn && session->reconnects) return NULL; /* repeated after a lost connection */
    if (!*at) log_message("ignored, no such match here", message);
    else if (is_turn) return turn(session, *at, message);
    else if (is_event) event(session, *at, message);
    else end(session, at, message);
    return NULL;
}

void session_clear(session *session) {
    while (session->plays) forget(&session->plays);
}
