/* Imagined positions, from a running `referee imagine`. */
#define _GNU_SOURCE

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "refereebot.h"

struct referee_imaginer {
    pid_t process;
    int output;  /* requests go here */
    FILE *input; /* answers come from here */
    char *line;
    size_t capacity;
    int imagined;
    char error[512];
    referee_imaginer *next;
};

static referee_imaginer *running; /* the list of those that have not ended */

static void end_all(void) {
    while (running) referee_imaginer_end(running);
}

extern char **environ;

static bool fail(referee_imaginer *imaginer, const char *what, const char *detail) {
    snprintf(imaginer->error, sizeof imaginer->error, "%s%s", what, detail);
    return false;
}

referee_imaginer *referee_imaginer_start(const char *program, const char *const *games) {
    if (!program) program = getenv("REFEREE");
    if (!program || !*program) program = "referee";
    referee_imaginer *imaginer = calloc(1, sizeof *imaginer);
    int pair[2]; /* a socket, because writing to a pipe that nothing reads ends the bot */
    if (!imaginer || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
    size_t count = 0, words = 0;
    while (games && games[count]) count++;
    char **argv = calloc(2 * count + 3, sizeof *argv);
    if (!argv) abort();
    argv[words++] = (char *)program;
    argv[words++] = "imagine";
    for (size_t i = 0; i < count; i++) {
        argv[words++] = "--game";
        argv[words++] = (char *)games[i];
    }
    int error = posix_spawnp(&imaginer->process, program, &actions, NULL, argv, environ);
    free(argv);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (error) {
        fprintf(stderr, "refereebot: cannot start `%s`: %s: install referee, or name its program in REFEREE\n", program,
                strerror(error));
        close(pair[0]);
        free(imaginer);
        return NULL;
    }
    imaginer->output = pair[0];
    imaginer->input = fdopen(dup(pair[0]), "r");
    if (!imaginer->input) abort();
    static bool ends_at_exit;
    if (!ends_at_exit) ends_at_exit = atexit(end_all) == 0;
    imaginer->next = running;
    running = imaginer;
    return imaginer;
}

void referee_imaginer_end(referee_imaginer *imaginer) {
    if (!imaginer) return;
    for (referee_imaginer **at = &running; *at; at = &(*at)->next) {
        if (*at != imaginer) continue;
        *at = imaginer->next;
        break;
    }
    close(imaginer->output);
    fclose(imaginer->input);
    while (waitpid(imaginer->process, NULL, 0) < 0 && errno == EINTR) continue;
    free(imaginer->line);
    free(imaginer);
}

const char *referee_imaginer_error(const referee_imaginer *imaginer) { return imaginer->error; }

/* Sends a request, which it deletes. Returns the answer; NULL if it is an error or there is none. */
static cJSON *ask(referee_imaginer *imaginer, cJSON *request) {
    char *text = cJSON_PrintUnformatted(request);
    cJSON_Delete(request);
    if (!text) abort();
    size_t length = strlen(text), sent = 0;
    text[length++] = '\n';
    while (sent < length) {
        ssize_t n = send(imaginer->output, text + sent, length - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) sent += (size_t)n;
    }
    cJSON_free(text);
    ssize_t read = sent == length ? getline(&imaginer->line, &imaginer->capacity, imaginer->input) : -1;
    cJSON *answer = read > 0 ? cJSON_ParseWithLength(imaginer->line, (size_t)read) : NULL;
    const char *type = text_of(answer, "type");
    if (!type) {
        fail(imaginer, "referee imagine has ended", "");
    } else if (strcmp(type, "error") == 0) {
        const char *code = text_of(answer, "code"), *message = text_of(answer, "message");
        snprintf(imaginer->error, sizeof imaginer->error, "%s: %s", code ? code : "", message ? message : "");
    } else {
        return answer;
    }
    cJSON_Delete(answer);
    return NULL;
}

int referee_imagine(referee_imaginer *imaginer, const referee_turn *turn, int worlds, int64_t seed) {
    int number = imaginer->imagined % REFEREE_POSITIONS;
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "type", "imagine");
    cJSON_AddNumberToObject(request, "position", number);
    cJSON_AddStringToObject(request, "game", turn->start->game);
    cJSON_AddNumberToObject(request, "rules", turn->start->rules);
    cJSON_AddNumberToObject(request, "seats", turn->start->seat_count);
    if (turn->start->options) cJSON_AddItemToObject(request, "options", cJSON_Duplicate(turn->start->options, true));
    cJSON_AddNumberToObject(request, "seat", turn->seat);
    if (turn->view) cJSON_AddItemToObject(request, "view", cJSON_Duplicate(turn->view, true));
    if (turn->turns_left >= 0) cJSON_AddNumberToObject(request, "turns_left", (double)turn->turns_left);
    cJSON_AddNumberToObject(request, "worlds", worlds);
    cJSON_AddNumberToObject(request, "seed", (double)seed);
    cJSON *answer = ask(imaginer, request);
    if (!answer) return -1;
    cJSON_Delete(answer);
    imaginer->imagined++;
    return number;
}

static cJSON *about(const char *type, int position, const referee_seat_move *moves, int count, int64_t seed) {
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "type", type);
    cJSON_AddNumberToObject(request, "position", position);
    cJSON_AddNumberToObject(request, "seed", (double)seed);
    cJSON *list = cJSON_AddArrayToObject(request, "moves");
    for (int i = 0; i < count; i++) {
        cJSON *move = cJSON_CreateObject();
        cJSON_AddNumberToObject(move, "seat", moves[i].seat);
        cJSON_AddStringToObject(move, "move", moves[i].move);
        cJSON_AddItemToArray(list, move);
    }
    return request;
}

static void scores_of(const cJSON *list, double scores[REFEREE_SEATS]) {
    for (int seat = 0; seat < REFEREE_SEATS; seat++) {
        const cJSON *score = cJSON_GetArrayItem(list, seat);
        scores[seat] = cJSON_IsNumber(score) ? score->valuedouble : 0;
    }
}

bool referee_explore(referee_imaginer *imaginer, int position, const referee_seat_move *moves, int count, int world,
                     int view_of, int64_t seed, referee_state *state) {
    cJSON *request = about("explore", position, moves, count, seed);
    cJSON_AddNumberToObject(request, "world", world);
    if (view_of >= 0) cJSON_AddNumberToObject(request, "view_of", view_of);
    cJSON *answer = ask(imaginer, request);
    if (!answer) return false;
    *state = (referee_state){.answer = answer, .view = field(answer, "view")};
    state->turns_left = number_of(answer, "turns_left", -1);
    const cJSON *decision;
    cJSON_ArrayForEach(decision, field(answer, "decisions")) {
        int seat = (int)number_of(decision, "seat", 0);
        if (seat < REFEREE_SEATS) state->legal[seat] = field(decision, "legal");
    }
    const cJSON *over = field(answer, "over");
    state->is_over = over != NULL;
    state->reason = text_of(over, "reason");
    scores_of(field(over, "scores"), state->scores);
    return true;
}

void referee_state_clear(referee_state *state) {
    cJSON_Delete(state->answer);
    *state = (referee_state){0};
}

bool referee_playouts(referee_imaginer *imaginer, int position, const referee_seat_move *moves, int count, int playouts,
                      int64_t seed, double scores[REFEREE_SEATS]) {
    cJSON *request = about("playouts", position, moves, count, seed);
    cJSON_AddNumberToObject(request, "count", playouts);
    cJSON *answer = ask(imaginer, request);
    if (!answer) return false;
    scores_of(field(answer, "scores"), scores);
    cJSON_Delete(answer);
    return true;
}
