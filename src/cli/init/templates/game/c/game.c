/* The rules of @NAME@: see rules.md. A line of JSON in, a line of JSON out: `referee spec games` describes them. It remembers
   nothing, since the referee asks in any order. */

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A position. */
typedef struct {
    int sticks, seat;
} game;

static cJSON *field(const cJSON *object, const char *name) {
    cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!value) {
        /* The referee quotes standard error. */
        fprintf(stderr, "the field `%s` is missing\n", name);
        exit(1);
    }
    return value;
}

static game read_state(const cJSON *request) {
    const cJSON *state = field(request, "state");
    return (game){field(state, "sticks")->valueint, field(state, "seat")->valueint};
}

static cJSON *view_of(game position) {
    cJSON *view = cJSON_CreateObject();
    cJSON_AddNumberToObject(view, "sticks", position.sticks);
    return view;
}

/* The answer to `start` and `play`: the state, and what comes next. */
static cJSON *answer_position(game position) {
    cJSON *answer = cJSON_CreateObject();
    cJSON *state = cJSON_AddObjectToObject(answer, "state");
    cJSON_AddNumberToObject(state, "sticks", position.sticks);
    cJSON_AddNumberToObject(state, "seat", position.seat);
    cJSON *turn = cJSON_AddObjectToObject(answer, "turn");
    if (position.sticks == 0) {
        cJSON *over = cJSON_AddObjectToObject(turn, "over");
        int ranks[] = {position.seat == 1 ? 1 : 2, position.seat == 1 ? 2 : 1};
        cJSON_AddItemToObject(over, "ranks", cJSON_CreateIntArray(ranks, 2));
        cJSON_AddStringToObject(over, "reason", "last_stick");
    } else {
        cJSON *decision = cJSON_CreateObject();
        cJSON_AddItemToArray(cJSON_AddArrayToObject(turn, "decide"), decision);
        cJSON_AddNumberToObject(decision, "seat", position.seat);
        const char *legal[] = {"1", "2", "3"};
        cJSON_AddItemToObject(decision, "legal", cJSON_CreateStringArray(legal, position.sticks < 3 ? position.sticks : 3));
        cJSON_AddItemToObject(decision, "view", view_of(position));
    }
    return answer;
}

static cJSON *start(const cJSON *request) {
    int sticks = field(field(request, "options"), "sticks")->valueint;
    if (sticks >= 1 && sticks <= 100) {
        return answer_position((game){sticks, 0});
    }
    char why[60];
    snprintf(why, sizeof why, "sticks: %d; expected 1 to 100", sticks);
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddStringToObject(answer, "bad_options", why);
    return answer;
}

static cJSON *play(const cJSON *request) {
    game position = read_state(request);
    const cJSON *move = field(cJSON_GetArrayItem(field(request, "moves"), 0), "move");
    return answer_position((game){position.sticks - atoi(move->valuestring), 1 - position.seat});
}

/* The seat knows everything: there is only this position. */
static cJSON *imagine(const cJSON *request) {
    return answer_position((game){field(field(request, "view"), "sticks")->valueint, field(request, "seat")->valueint});
}

static cJSON *show(const cJSON *request) {
    game position = read_state(request);
    char text[80];
    snprintf(text, sizeof text, position.sticks ? "%d sticks, seat %d to move" : "%d sticks, seat %d wins", position.sticks,
             position.sticks ? position.seat : 1 - position.seat);
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddItemToObject(answer, "view", view_of(position));
    cJSON_AddStringToObject(answer, "text", text);
    return answer;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        cJSON *request = cJSON_Parse(line);
        const char *type = field(request, "type")->valuestring;
        cJSON *answer = strcmp(type, "start") == 0     ? start(request)
                        : strcmp(type, "play") == 0    ? play(request)
                        : strcmp(type, "imagine") == 0 ? imagine(request)
                                                       : show(request);
        char *text = cJSON_PrintUnformatted(answer);
        puts(text);
        fflush(stdout);
        free(text);
        cJSON_Delete(answer);
        cJSON_Delete(request);
    }
    free(line);
    return 0;
}
