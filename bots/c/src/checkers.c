#include <stdio.h>

#include "scan.h"

bool referee_checkers_view_read(const cJSON *view, referee_checkers_view *read) {
    read->board = text_of(view, "board");
    read->fen = text_of(view, "fen");
    return read_to_move(view, &read->to_move) && read->board && strlen(read->board) == 32 && read->fen &&
           read_number(view, "quiet_plies", &read->quiet_plies);
}

bool referee_checkers_move_read(const char *text, referee_checkers_move *move) {
    move->length = 0;
    if (!scan_number(&text, 1, 32, &move->path[move->length++])) return false;
    move->kind = *text == 'x' ? REFEREE_CHECKERS_CAPTURE : REFEREE_CHECKERS_STEP;
    int most = *text == 'x' ? 13 : 2;
    while (move->length < most && scan(&text, move->kind == REFEREE_CHECKERS_CAPTURE ? "x" : "-")) {
        if (!scan_number(&text, 1, 32, &move->path[move->length++])) return false;
    }
    return *text == '\0' && move->length >= 2;
}

void referee_checkers_move_write(const referee_checkers_move *move, char text[REFEREE_MOVE_SIZE]) {
    char separator = move->kind == REFEREE_CHECKERS_CAPTURE ? 'x' : '-';
    int at = snprintf(text, REFEREE_MOVE_SIZE, "%d", move->path[0]);
    for (int i = 1; i < move->length && at < REFEREE_MOVE_SIZE; i++) {
        at += snprintf(text + at, (size_t)(REFEREE_MOVE_SIZE - at), "%c%d", separator, move->path[i]);
    }
}
