#include <stdio.h>

#include "scan.h"

static const char *const words[] = {"reroll", "turn", "place", "score", "pay", "insure", NULL};

bool referee_saxum_view_read(const cJSON *view, referee_saxum_view *read) {
    const cJSON *dice = field(view, "dice");
    read->phase = text_of(view, "phase");
    read->dice[0] = read->dice[1] = 0;
    if (!cJSON_IsNull(dice) && read_numbers(dice, 2, read->dice) != 2) return false;
    return read_to_move(view, &read->to_move) && read->phase && read_texts(field(view, "board"), 5, read->board) == 5 &&
           read_pair(view, "points", read->points) && read_pair(view, "rows", read->rows) &&
           read_pair(view, "insurance", read->insurance) && read_pair(view, "supply", read->supply);
}

bool referee_saxum_move_read(const char *text, referee_saxum_move *move) {
    const char *word;
    memset(move, 0, sizeof *move);
    if (!scan_word(&text, words, &word) || !scan(&text, " ")) return false;
    while (words[move->kind] != word) move->kind++;
    if (move->kind == REFEREE_SAXUM_REROLL) return scan_number(&text, 1, 2, &move->die) && !*text;
    if (move->kind == REFEREE_SAXUM_TURN) {
        return scan_number(&text, 1, 2, &move->die) && scan(&text, " ") && scan_number(&text, 1, 5, &move->face) && !*text;
    }
    return scan_number(&text, 1, 5, &move->row) && scan(&text, " ") && scan_number(&text, 1, 5, &move->column) && !*text;
}

void referee_saxum_move_write(const referee_saxum_move *move, char text[REFEREE_MOVE_SIZE]) {
    const char *word = words[move->kind];
    if (move->kind == REFEREE_SAXUM_REROLL) snprintf(text, REFEREE_MOVE_SIZE, "%s %d", word, move->die);
    else if (move->kind == REFEREE_SAXUM_TURN) snprintf(text, REFEREE_MOVE_SIZE, "%s %d %d", word, move->die, move->face);
    else snprintf(text, REFEREE_MOVE_SIZE, "%s %d %d", word, move->row, move->column);
}
