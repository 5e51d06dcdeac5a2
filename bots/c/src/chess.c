#include <stdio.h>

#include "scan.h"

bool referee_chess_view_read(const cJSON *view, referee_chess_view *read) {
    const cJSON *since = field(view, "since");
    read->board = text_of(view, "board");
    read->fen = text_of(view, "fen");
    read->check_count = read_texts(field(view, "checks"), 2, read->checks);
    read->since_fen = text_of(since, "fen");
    read->since_moves = field(since, "moves");
    return read_to_move(view, &read->to_move) && read->board && strlen(read->board) == 64 && read->fen &&
           read->check_count >= 0 && read_number(view, "occurrences", &read->occurrences) && read->since_fen &&
           cJSON_IsArray(read->since_moves);
}

bool referee_chess_move_read(const char *text, referee_chess_move *move) {
    memset(move, 0, sizeof *move);
    if (!scan_square(&text, 'h', '8', move->start) || !scan_square(&text, 'h', '8', move->target)) return false;
    if (*text && strchr("qrbn", *text)) move->piece = *text++;
    return !*text;
}

void referee_chess_move_write(const referee_chess_move *move, char text[REFEREE_MOVE_SIZE]) {
    const char piece[] = {move->piece, '\0'};
    snprintf(text, REFEREE_MOVE_SIZE, "%s%s%s", move->start, move->target, piece);
}
