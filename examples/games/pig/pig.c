/* The rules of Pig: see rules.md. A line of JSON in, a line of JSON out. It remembers nothing. */

#include <cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEATS = 6, MOST_DECISIONS = 9000 };

static const char *const COLOURS[MOST_SEATS] = {"red", "blue", "green", "orange", "purple", "yellow"};

/* A position. */
typedef struct {
    int seats, goal, left; /* left: decisions until the limit */
    int scores[MOST_SEATS];
    int seat, points, die; /* die: the last roll, 0 before the first one */
    bool is_rolling;
} pig;

/* Ends the process. The referee quotes the text. */
static void fail(const char *what) {
    fprintf(stderr, "pig: %s\n", what);
    exit(1);
}

static cJSON *field(const cJSON *object, const char *name) {
    cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!value) fail(name);
    return value;
}

static int number(const cJSON *object, const char *name) {
    return (int)cJSON_GetNumberValue(field(object, name));
}

static cJSON *scores_of(const pig *game) {
    return cJSON_CreateIntArray(game->scores, game->seats);
}

static pig read_state(const cJSON *state) {
    pig game = {.goal = number(state, "goal"), .left = number(state, "left"), .seat = number(state, "seat")};
    game.points = number(state, "points");
    game.die = number(state, "die");
    game.is_rolling = cJSON_IsTrue(field(state, "rolling"));
    const cJSON *score;
    cJSON_ArrayForEach(score, field(state, "scores")) game.scores[game.seats++] = score->valueint;
    return game;
}

static cJSON *write_state(const pig *game) {
    cJSON *state = cJSON_CreateObject();
    cJSON_AddNumberToObject(state, "goal", game->goal);
    cJSON_AddNumberToObject(state, "left", game->left);
    cJSON_AddItemToObject(state, "scores", scores_of(game));
    cJSON_AddNumberToObject(state, "seat", game->seat);
    cJSON_AddNumberToObject(state, "points", game->points);
    cJSON_AddNumberToObject(state, "die", game->die);
    cJSON_AddBoolToObject(state, "rolling", game->is_rolling);
    return state;
}

static cJSON *view_of(const pig *game) {
    cJSON *view = cJSON_CreateObject();
    cJSON_AddItemToObject(view, "scores", scores_of(game));
    cJSON_AddNumberToObject(view, "seat", game->seat);
    cJSON_AddNumberToObject(view, "points", game->points);
    cJSON_AddNumberToObject(view, "goal", game->goal);
    return view;
}

/* The seat that has reached the goal, or -1. */
static int winner(const pig *game) {
    for (int seat = 0; seat < game->seats; seat++) {
        if (game->scores[seat] >= game->goal) return seat;
    }
    return -1;
}

static bool is_over(const pig *game) {
    return winner(game) >= 0 || (game->left == 0 && !game->is_rolling);
}

static void next_seat(pig *game) {
    game->points = 0;
    game->seat = (game->seat + 1) % game->seats;
}

static cJSON *turn_of(const pig *game) {
    cJSON *turn = cJSON_CreateObject();
    if (is_over(game)) {
        cJSON *over = cJSON_AddObjectToObject(turn, "over");
        cJSON *ranks = cJSON_AddArrayToObject(over, "ranks");
        for (int seat = 0; seat < game->seats; seat++) {
            int rank = 1;
            for (int other = 0; other < game->seats; other++) rank += game->scores[other] > game->scores[seat];
            cJSON_AddItemToArray(ranks, cJSON_CreateNumber(rank));
        }
        cJSON_AddStringToObject(over, "reason", winner(game) >= 0 ? "goal" : "points");
    } else if (game->is_rolling) {
        cJSON *dice = cJSON_AddObjectToObject(cJSON_AddObjectToObject(turn, "draw"), "dice");
        cJSON_AddNumberToObject(dice, "count", 1);
        cJSON_AddNumberToObject(dice, "sides", 6);
    } else {
        cJSON *decision = cJSON_CreateObject();
        cJSON_AddItemToArray(cJSON_AddArrayToObject(turn, "decide"), decision);
        cJSON_AddNumberToObject(decision, "seat", game->seat);
        const char *legal[] = {"stop", "roll"};
        bool wins = game->scores[game->seat] + game->points >= game->goal;
        cJSON_AddItemToObject(decision, "legal", cJSON_CreateStringArray(legal, wins ? 1 : 2));
        cJSON_AddItemToObject(decision, "view", view_of(game));
    }
    return turn;
}

static cJSON *position(const pig *game) {
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddItemToObject(answer, "state", write_state(game));
    cJSON_AddItemToObject(answer, "turn", turn_of(game));
    cJSON_AddNumberToObject(answer, "turns_left", game->left);
    return answer;
}

static cJSON *start(const cJSON *request) {
    const cJSON *options = field(request, "options");
    pig game = {.seats = number(request, "seats"), .goal = number(options, "goal"), .left = number(options, "turn_limit")};
    char wrong[80] = "";
    if (game.goal < 1 || game.goal > 1000) {
        snprintf(wrong, sizeof wrong, "goal: %d; expected 1 to 1000", game.goal);
    } else if (game.left < 1 || game.left > MOST_DECISIONS) {
        snprintf(wrong, sizeof wrong, "turn_limit: %d; expected 1 to %d", game.left, MOST_DECISIONS);
    }
    if (!*wrong) return position(&game);
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddStringToObject(answer, "bad_options", wrong);
    return answer;
}

static cJSON *play(const cJSON *request) {
    pig game = read_state(field(request, "state"));
    const char *move = cJSON_GetStringValue(field(cJSON_GetArrayItem(field(request, "moves"), 0), "move"));
    game.left--;
    if (strcmp(move, "roll") == 0) {
        game.is_rolling = true;
    } else {
        game.scores[game.seat] += game.points;
        next_seat(&game);
    }
    return position(&game);
}

static cJSON *settle(const cJSON *request) {
    pig game = read_state(field(request, "state"));
    game.die = cJSON_GetArrayItem(field(request, "drawn"), 0)->valueint;
    game.is_rolling = false;
    game.points += game.die;
    if (game.die == 1) next_seat(&game);
    cJSON *answer = position(&game);
    cJSON *event = cJSON_CreateObject();
    cJSON_AddItemToArray(cJSON_AddArrayToObject(answer, "events"), event);
    cJSON *all = cJSON_AddObjectToObject(event, "all");
    cJSON_AddStringToObject(all, "kind", "rolled");
    cJSON_AddNumberToObject(all, "die", game.die);
    return answer;
}

/* Nothing is hidden but the last roll, which changes nothing. */
static cJSON *imagine(const cJSON *request) {
    const cJSON *view = field(request, "view"), *score;
    pig game = {.goal = number(view, "goal"), .left = number(request, "turns_left"), .seat = number(view, "seat")};
    game.points = number(view, "points");
    cJSON_ArrayForEach(score, field(view, "scores")) {
        if (game.seats == MOST_SEATS) fail("the view has too many scores");
        game.scores[game.seats++] = score->valueint;
    }
    return position(&game);
}

/* Adds a shape of one part to the scene. Returns the part. */
static cJSON *add_shape(cJSON *scene, const char *name, int seat, const char *layer, int x, int y, const char *form) {
    char id[40];
    snprintf(id, sizeof id, "%s %d", name, seat);
    cJSON *shape = cJSON_CreateObject(), *part = cJSON_CreateObject();
    cJSON_AddItemToArray(field(scene, "shapes"), shape);
    cJSON_AddStringToObject(shape, "id", id);
    cJSON_AddStringToObject(shape, "layer", layer);
    cJSON_AddItemToObject(shape, "at", cJSON_CreateIntArray((int[]){x, y}, 2));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(shape, "parts"), part);
    cJSON_AddStringToObject(part, "form", form);
    cJSON_AddItemToObject(part, "at", cJSON_CreateIntArray((int[]){0, 0}, 2));
    return part;
}

static void add_bar(cJSON *scene, const char *name, int seat, const char *layer, int from, int length, const char *colour) {
    cJSON *part = add_shape(scene, name, seat, layer, 60 + from, 30 + 110 * seat, "rect");
    cJSON_AddNumberToObject(part, "width", length);
    cJSON_AddNumberToObject(part, "height", 60);
    cJSON_AddNumberToObject(part, "radius", 10);
    cJSON_AddStringToObject(part, "fill", colour);
}

static void add_text(cJSON *scene, const char *name, int seat, int x, int y, const char *text) {
    cJSON *part = add_shape(scene, name, seat, "label", x, y, "text");
    cJSON_AddNumberToObject(part, "size", 40);
    cJSON_AddStringToObject(part, "text", text);
    cJSON_AddStringToObject(part, "fill", "ink");
}

static void words(const pig *game, char *text, size_t size) {
    int best = 0, count = 0;
    for (int seat = 0; seat < game->seats; seat++) {
        if (game->scores[seat] > game->scores[best]) best = seat;
    }
    for (int seat = 0; seat < game->seats; seat++) count += game->scores[seat] == game->scores[best];
    if (!is_over(game)) {
        snprintf(text, size, "%s %s", COLOURS[game->seat], game->is_rolling ? "rolls" : "to move");
    } else if (count > 1) {
        snprintf(text, size, "a draw");
    } else {
        snprintf(text, size, "%s wins", COLOURS[best]);
    }
}

static cJSON *show(const cJSON *request) {
    pig game = read_state(field(request, "state"));
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddItemToObject(answer, "view", view_of(&game));
    cJSON *scene = cJSON_AddObjectToObject(answer, "scene");
    cJSON_AddNumberToObject(scene, "width", 1300);
    cJSON_AddNumberToObject(scene, "height", 20 + 110 * game.seats);
    cJSON_AddItemToObject(scene, "seats", cJSON_CreateStringArray(COLOURS, game.seats));
    cJSON_AddArrayToObject(scene, "shapes");
    cJSON *said = cJSON_AddArrayToObject(scene, "words");
    char text[100];
    words(&game, text, sizeof text);
    cJSON_AddItemToArray(said, cJSON_CreateString(text));
    for (int seat = 0; seat < game.seats; seat++) {
        int points = seat == game.seat ? game.points : 0;
        int reached = game.scores[seat] < game.goal ? game.scores[seat] : game.goal;
        int hoped = reached + points < game.goal ? points : game.goal - reached;
        add_bar(scene, "way", seat, "board", 0, 1000, "board");
        if (reached) add_bar(scene, "score", seat, "piece", 0, 1000 * reached / game.goal, COLOURS[seat]);
        if (hoped) add_bar(scene, "points", seat, "mark", 1000 * reached / game.goal, 1000 * hoped / game.goal, "mark");
        snprintf(text, sizeof text, points ? "%d + %d" : "%d", game.scores[seat], points);
        add_text(scene, "number", seat, 1170, 60 + 110 * seat, text);
        snprintf(text, sizeof text, points ? "%s: %d and %d points of this turn" : "%s: %d", COLOURS[seat], game.scores[seat], points);
        cJSON_AddItemToArray(said, cJSON_CreateString(text));
    }
    if (game.die) {
        snprintf(text, sizeof text, "the last roll: %d", game.die);
        cJSON_AddItemToArray(said, cJSON_CreateString(text));
    }
    return answer;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        cJSON *request = cJSON_Parse(line);
        const char *type = cJSON_GetStringValue(field(request, "type"));
        cJSON *answer = strcmp(type, "start") == 0     ? start(request)
                        : strcmp(type, "play") == 0    ? play(request)
                        : strcmp(type, "settle") == 0  ? settle(request)
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
