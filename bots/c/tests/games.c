/* Views and moves of every game are read and written as the shared vectors say. */

#include <refereebot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checked;

static void check(bool is_true, const char *what, const char *about) {
    checked++;
    if (is_true) return;
    failures++;
    printf("%s: %s\n", what, about);
}

static cJSON *object_of(const char *kind) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "kind", kind);
    return object;
}

static void add(cJSON *object, const char *name, const char *text) {
    if (text && *text) cJSON_AddStringToObject(object, name, text);
}

static void add_or_null(cJSON *object, const char *name, const char *text) {
    cJSON_AddItemToObject(object, name, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static void add_numbers(cJSON *object, const char *name, const int *numbers, int count) {
    cJSON_AddItemToObject(object, name, cJSON_CreateIntArray(numbers, count));
}

static void add_texts(cJSON *object, const char *name, const char *const *texts, int count) {
    cJSON_AddItemToObject(object, name, cJSON_CreateStringArray(texts, count));
}

/* ---- Moves ---- */

static cJSON *checkers_move(const char *text, char *written) {
    static const char *const kinds[] = {"step", "capture"};
    referee_checkers_move move;
    if (!referee_checkers_move_read(text, &move)) return NULL;
    referee_checkers_move_write(&move, written);
    cJSON *read = object_of(kinds[move.kind]);
    add_numbers(read, "path", move.path, move.length);
    return read;
}

static cJSON *chess_move(const char *text, char *written) {
    referee_chess_move move;
    if (!referee_chess_move_read(text, &move)) return NULL;
    referee_chess_move_write(&move, written);
    const char piece[] = {move.piece, '\0'};
    cJSON *read = object_of(move.piece ? "promote" : "move");
    add(read, "start", move.start);
    add(read, "target", move.target);
    add(read, "piece", piece);
    return read;
}

static cJSON *jeex_move(const char *text, char *written) {
    static const char *const kinds[] = {"place", "rotate", "capture", "claim"};
    referee_jeex_move move;
    if (!referee_jeex_move_read(text, &move)) return NULL;
    referee_jeex_move_write(&move, written);
    cJSON *read = object_of(kinds[move.kind]);
    add(read, "field", move.field);
    add(read, "direction", move.direction);
    add(read, "target", move.target);
    return read;
}

static cJSON *saxum_move(const char *text, char *written) {
    static const char *const kinds[] = {"reroll", "turn", "place", "score", "pay", "insure"};
    referee_saxum_move move;
    if (!referee_saxum_move_read(text, &move)) return NULL;
    referee_saxum_move_write(&move, written);
    cJSON *read = object_of(kinds[move.kind]);
    if (move.die) cJSON_AddNumberToObject(read, "die", move.die);
    if (move.face) cJSON_AddNumberToObject(read, "face", move.face);
    if (move.row) cJSON_AddNumberToObject(read, "row", move.row);
    if (move.column) cJSON_AddNumberToObject(read, "column", move.column);
    return read;
}

static cJSON *xe_queo_move(const char *text, char *written) {
    static const char *const kinds[] = {"ring", "choose", "move", "accuse"};
    referee_xe_queo_move move;
    if (!referee_xe_queo_move_read(text, &move)) return NULL;
    referee_xe_queo_move_write(&move, written);
    cJSON *read = object_of(kinds[move.kind]);
    add(read, "pawn", move.pawn);
    add(read, "square", move.square);
    return read;
}

static cJSON *keezen_move(const char *text, char *written) {
    static const char *const kinds[] = {"enter", "step", "split", "swap"};
    referee_keezen_move move;
    if (!referee_keezen_move_read(text, &move)) return NULL;
    referee_keezen_move_write(&move, written);
    cJSON *read = object_of(kinds[move.kind]);
    if (move.kind == REFEREE_KEEZEN_ENTER || move.kind == REFEREE_KEEZEN_STEP) add(read, "card", move.card);
    if (move.seat >= 0) cJSON_AddNumberToObject(read, "seat", move.seat);
    add(read, "pawn", move.pawn);
    add(read, "other", move.other);
    if (move.steps) cJSON_AddNumberToObject(read, "steps", move.steps);
    if (move.other_steps) cJSON_AddNumberToObject(read, "other_steps", move.other_steps);
    return read;
}

/* ---- Views ---- */

static cJSON *checkers_view(const cJSON *view) {
    referee_checkers_view v;
    if (!referee_checkers_view_read(view, &v)) return NULL;
    cJSON *read = cJSON_CreateObject();
    add_numbers(read, "to_move", v.to_move.seat, v.to_move.count);
    add(read, "board", v.board);
    add(read, "fen", v.fen);
    cJSON_AddNumberToObject(read, "quiet_plies", v.quiet_plies);
    return read;
}

static cJSON *chess_view(const cJSON *view) {
    referee_chess_view v;
    if (!referee_chess_view_read(view, &v)) return NULL;
    cJSON *read = cJSON_CreateObject();
    add_numbers(read, "to_move", v.to_move.seat, v.to_move.count);
    add(read, "board", v.board);
    add(read, "fen", v.fen);
    add_texts(read, "checks", v.checks, v.check_count);
    cJSON_AddNumberToObject(read, "occurrences", v.occurrences);
    cJSON *since = cJSON_AddObjectToObject(read, "since");
    add(since, "fen", v.since_fen);
    cJSON_AddItemToObject(since, "moves", cJSON_Duplicate(v.since_moves, true));
    return read;
}

static cJSON *jeex_view(const cJSON *view) {
    referee_jeex_view v;
    if (!referee_jeex_view_read(view, &v)) return NULL;
    cJSON *read = cJSON_CreateObject();
    add_numbers(read, "to_move", v.to_move.seat, v.to_move.count);
    add(read, "phase", v.phase);
    cJSON *stones = cJSON_AddObjectToObject(read, "stones");
    for (int i = 0; i < v.stone_count; i++) {
        cJSON *stone = cJSON_AddArrayToObject(stones, v.stones[i].field);
        cJSON_AddItemToArray(stone, cJSON_CreateNumber(v.stones[i].owner));
        cJSON_AddItemToArray(stone, cJSON_CreateString(v.stones[i].direction));
    }
    add_numbers(read, "supply", v.supply, 2);
    cJSON_AddNumberToObject(read, "removed", v.removed);
    cJSON_AddNumberToObject(read, "quiet_plies", v.quiet_plies);
    return read;
}

static cJSON *saxum_view(const cJSON *view) {
    referee_saxum_view v;
    if (!referee_saxum_view_read(view, &v)) return NULL;
    cJSON *read = cJSON_CreateObject();
    add_numbers(read, "to_move", v.to_move.seat, v.to_move.count);
    add(read, "phase", v.phase);
    if (v.dice[0]) add_numbers(read, "dice", v.dice, 2);
    else cJSON_AddNullToObject(read, "dice");
    add_texts(read, "board", v.board, 5);
    add_numbers(read, "points", v.points, 2);
    add_numbers(read, "rows", v.rows, 2);
    add_numbers(read, "insurance", v.insurance, 2);
    add_numbers(read, "supply", v.supply, 2);
    return read;
}

static cJSON *xe_queo_view(const cJSON *view) {
    referee_xe_queo_view v;
    if (!referee_xe_queo_view_read(view, &v)) return NULL;
    cJSON *read = cJSON_CreateObject();
    cJSON_AddNumberToObject(read, "round", v.round);
    add(read, "phase", v.phase);
    add_numbers(read, "to_move", v.to_move.seat, v.to_move.count);
    add_numbers(read, "rings", v.rings, 2);
    cJSON *pawns = cJSON_AddObjectToObject(read, "pawns");
    for (int i = 0; i < REFEREE_PAWNS; i++) add(pawns, referee_xe_queo_pawns[i], v.pawns[i]);
    add_or_null(read, "ring", v.ring);
    add_or_null(read, "choice", v.choice);
    cJSON *moves = cJSON_AddArrayToObject(read, "moves");
    const cJSON *element;
    cJSON_ArrayForEach(element, v.moves) {
        referee_xe_queo_moved moved;
        if (!referee_xe_queo_moved_read(element, &moved)) continue;
        cJSON *triple = cJSON_CreateArray();
        cJSON_AddItemToArray(triple, cJSON_CreateNumber(moved.seat));
        cJSON_AddItemToArray(triple, cJSON_CreateString(moved.pawn));
        cJSON_AddItemToArray(triple, cJSON_CreateString(moved.square));
        cJSON_AddItemToArray(moves, triple);
    }
    if (v.last_winner < 0) {
        cJSON_AddNullToObject(read, "last_round");
        return read;
    }
    cJSON *last = cJSON_AddObjectToObject(read, "last_round");
    cJSON_AddNumberToObject(last, "winner", v.last_winner);
    add_texts(last, "choices", v.last_choices, 2);
    add(last, "reason", v.last_reason);
    return read;
}

static cJSON *keezen_view(const cJSON *view) {
    referee_keezen_view v;
    if (!referee_keezen_view_read(view, &v)) return NULL;
    cJSON *read = cJSON_CreateObject();
    add_numbers(read, "to_move", v.to_move.seat, v.to_move.count);
    cJSON_AddNumberToObject(read, "track", v.track);
    add_numbers(read, "starts", v.starts, v.seat_count);
    cJSON *pawns = cJSON_AddArrayToObject(read, "pawns");
    cJSON *hands = cJSON_AddObjectToObject(read, "hands");
    for (int seat = 0; seat < v.seat_count; seat++) {
        char name[] = {(char)('0' + seat), '\0'};
        cJSON_AddItemToArray(pawns, cJSON_CreateStringArray(v.pawns[seat], 4));
        if (v.hands[seat].count >= 0) add_texts(hands, name, v.hands[seat].card, v.hands[seat].count);
    }
    if (v.hand.count >= 0) add_texts(read, "hand", v.hand.card, v.hand.count);
    else cJSON_AddNullToObject(read, "hand");
    add_numbers(read, "cards", v.cards, v.seat_count);
    cJSON_AddNumberToObject(read, "dealer", v.dealer);
    cJSON_AddNumberToObject(read, "cycle", v.cycle);
    cJSON_AddNumberToObject(read, "deal", v.deal);
    add_texts(read, "pile", v.pile, v.pile_count);
    if (v.playing_for >= 0) cJSON_AddNumberToObject(read, "playing_for", v.playing_for);
    else cJSON_AddNullToObject(read, "playing_for");
    return read;
}

static const struct game {
    const char *name;
    cJSON *(*move)(const char *text, char *written);
    cJSON *(*view)(const cJSON *view);
} games[] = {
    {"checkers", checkers_move, checkers_view}, {"chess", chess_move, chess_view},       {"jeex", jeex_move, jeex_view},
    {"saxum", saxum_move, saxum_view},          {"xe_queo", xe_queo_move, xe_queo_view}, {"keezen", keezen_move, keezen_view},
};

static void test_move(const struct game *game, const cJSON *vector) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(vector, "move"));
    const cJSON *expected = cJSON_GetObjectItem(vector, "read");
    char written[REFEREE_MOVE_SIZE] = "";
    cJSON *read = game->move(text, written);
    if (cJSON_IsNull(expected)) {
        check(!read, "is read though it is no move", text);
    } else {
        check(cJSON_Compare(read, expected, true), "is read otherwise", text);
        check(strcmp(written, text) == 0, "is written otherwise", text);
    }
    cJSON_Delete(read);
}

static void test_view(const struct game *game, const cJSON *vector) {
    const cJSON *view = cJSON_GetObjectItem(vector, "view"), *expected = cJSON_GetObjectItem(vector, "read");
    cJSON *read = game->view(view);
    char *text = cJSON_PrintUnformatted(read);
    check(cJSON_Compare(read, expected ? expected : view, true), game->name, text ? text : "is not read");
    cJSON_free(text);
    cJSON_Delete(read);

    /* A view that lacks a field is refused, not read half. */
    if (!expected) {
        for (int i = 0; i < cJSON_GetArraySize(view); i++) {
            cJSON *lacking = cJSON_Duplicate(view, true);
            cJSON_DeleteItemFromArray(lacking, i); /* fields are kept in a list, too */
            cJSON *half = game->view(lacking);
            const cJSON *field = cJSON_GetArrayItem(view, i);
            bool may_be_absent = cJSON_IsNull(field) || strcmp(field->string, "hand") == 0 || strcmp(field->string, "hands") == 0 ||
                                 strcmp(field->string, "playing_for") == 0 || strcmp(field->string, "ring") == 0 ||
                                 strcmp(field->string, "choice") == 0 || strcmp(field->string, "last_round") == 0;
            check(!half || may_be_absent, "is read without", field->string);
            cJSON_Delete(half);
            cJSON_Delete(lacking);
        }
    }
}

static void test_file(const char *path, void (*test)(const struct game *, const cJSON *)) {
    static char line[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, file)) {
        cJSON *vector = cJSON_Parse(line);
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(vector, "game"));
        const struct game *game = games, *end = games + sizeof games / sizeof *games;
        while (game < end && name && strcmp(game->name, name) != 0) game++;
        check(name && game < end, "no such game", line);
        if (name && game < end) test(game, vector);
        cJSON_Delete(vector);
    }
    fclose(file);
}

int main(void) {
    test_file("../vectors/moves.jsonl", test_move);
    test_file("../vectors/views.jsonl", test_view);
    printf("%d checks, %d failed\n", checked, failures);
    return failures > 0 || checked < 100;
}
