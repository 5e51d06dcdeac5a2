#include <stdio.h>

#include "scan.h"

const char *const referee_xe_queo_pawns[REFEREE_PAWNS] = {"red", "orange", "yellow", "green", "blue", "purple", "black"};

bool referee_xe_queo_view_read(const cJSON *view, referee_xe_queo_view *read) {
    const cJSON *last = field(view, "last_round");
    read->phase = text_of(view, "phase");
    read->ring = text_of(view, "ring");
    read->choice = text_of(view, "choice");
    read->moves = field(view, "moves");
    read->last_winner = -1;
    read->last_choices[0] = read->last_choices[1] = read->last_reason = NULL;
    if (cJSON_IsObject(last)) {
        read->last_reason = text_of(last, "reason");
        if (!read_number(last, "winner", &read->last_winner) || !read->last_reason ||
            read_texts(field(last, "choices"), 2, read->last_choices) != 2) {
            return false;
        }
    }
    for (int i = 0; i < REFEREE_PAWNS; i++) {
        if (!(read->pawns[i] = text_of(field(view, "pawns"), referee_xe_queo_pawns[i]))) return false;
    }
    return read_number(view, "round", &read->round) && read->phase && read_to_move(view, &read->to_move) &&
           read_pair(view, "rings", read->rings) && cJSON_IsArray(read->moves);
}

bool referee_xe_queo_moved_read(const cJSON *element, referee_xe_queo_moved *moved) {
    const cJSON *seat = cJSON_GetArrayItem(element, 0);
    moved->seat = cJSON_IsNumber(seat) ? seat->valueint : -1;
    moved->pawn = cJSON_GetStringValue(cJSON_GetArrayItem(element, 1));
    moved->square = cJSON_GetStringValue(cJSON_GetArrayItem(element, 2));
    return moved->seat >= 0 && moved->pawn && moved->square;
}

static bool scan_pawn(const char **at, const char **pawn) {
    const char *all[REFEREE_PAWNS + 1] = {NULL};
    memcpy(all, referee_xe_queo_pawns, sizeof referee_xe_queo_pawns);
    return scan_word(at, all, pawn);
}

bool referee_xe_queo_move_read(const char *text, referee_xe_queo_move *move) {
    memset(move, 0, sizeof *move);
    if (scan(&text, "ring ")) {
        move->kind = REFEREE_XE_QUEO_RING;
        return scan_square(&text, 'g', '7', move->square) && !*text;
    }
    if (scan(&text, "move ")) {
        move->kind = REFEREE_XE_QUEO_MOVE;
        return scan_pawn(&text, &move->pawn) && scan(&text, " ") && scan_square(&text, 'g', '7', move->square) && !*text;
    }
    move->kind = REFEREE_XE_QUEO_CHOOSE;
    if (!scan(&text, "choose ")) {
        move->kind = REFEREE_XE_QUEO_ACCUSE;
        if (!scan(&text, "accuse ")) return false;
    }
    return scan_pawn(&text, &move->pawn) && !*text;
}

void referee_xe_queo_move_write(const referee_xe_queo_move *move, char text[REFEREE_MOVE_SIZE]) {
    switch (move->kind) {
    case REFEREE_XE_QUEO_RING: snprintf(text, REFEREE_MOVE_SIZE, "ring %s", move->square); break;
    case REFEREE_XE_QUEO_CHOOSE: snprintf(text, REFEREE_MOVE_SIZE, "choose %s", move->pawn); break;
    case REFEREE_XE_QUEO_MOVE: snprintf(text, REFEREE_MOVE_SIZE, "move %s %s", move->pawn, move->square); break;
    case REFEREE_XE_QUEO_ACCUSE: snprintf(text, REFEREE_MOVE_SIZE, "accuse %s", move->pawn); break;
    }
}
