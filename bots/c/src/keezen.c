#include <stdio.h>

#include "scan.h"

static const char *const steppers[] = {"A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "Q", NULL};

static bool read_cards(const cJSON *list, referee_keezen_cards *cards) {
    cards->count = cJSON_IsArray(list) ? read_texts(list, 5, cards->card) : -1;
    return !list || cJSON_IsNull(list) || cards->count >= 0;
}

bool referee_keezen_view_read(const cJSON *view, referee_keezen_view *read) {
    const cJSON *playing_for = field(view, "playing_for"), *pawns = field(view, "pawns");
    int count = read_numbers(field(view, "starts"), REFEREE_SEATS, read->starts);
    read->seat_count = count;
    if (count < 0 || cJSON_GetArraySize(pawns) != count) return false;
    for (int seat = 0; seat < count; seat++) {
        char name[] = {(char)('0' + seat), '\0'};
        if (read_texts(cJSON_GetArrayItem(pawns, seat), 4, read->pawns[seat]) != 4 ||
            !read_cards(field(field(view, "hands"), name), &read->hands[seat])) {
            return false;
        }
    }
    read->playing_for = cJSON_IsNumber(playing_for) ? playing_for->valueint : -1;
    read->pile_count = read_texts(field(view, "pile"), 78, read->pile);
    return read_to_move(view, &read->to_move) && read_number(view, "track", &read->track) &&
           read_cards(field(view, "hand"), &read->hand) &&
           read_numbers(field(view, "cards"), REFEREE_SEATS, read->cards) == count && read->pile_count >= 0 &&
           read_number(view, "dealer", &read->dealer) && read_number(view, "cycle", &read->cycle) &&
           read_number(view, "deal", &read->deal);
}

static bool scan_track(const char **at, char pawn[5]) {
    const char *start = *at;
    int square;
    if (!scan(at, "t") || !scan_number(at, 0, 99, &square)) return false;
    memcpy(pawn, start, (size_t)(*at - start));
    return true;
}

static bool scan_pawn(const char **at, char pawn[5]) {
    const char *text = *at;
    if (text[0] != 'h') return scan_track(at, pawn);
    if (text[1] < '0' || text[1] > '5' || text[2] != '.' || text[3] < '0' || text[3] > '3') return false;
    memcpy(pawn, text, 4);
    *at += 4;
    return true;
}

bool referee_keezen_move_read(const char *text, referee_keezen_move *move) {
    const char *card;
    memset(move, 0, sizeof *move);
    move->seat = -1;
    if (scan(&text, "J ")) {
        move->kind = REFEREE_KEEZEN_SWAP;
        strcpy(move->card, "J");
        return scan_track(&text, move->pawn) && scan(&text, " ") && scan_track(&text, move->other) && !*text;
    }
    const char *entering = text + 1;
    if ((*text == 'A' || *text == 'K') && scan(&entering, " enter")) {
        move->kind = REFEREE_KEEZEN_ENTER;
        move->card[0] = *text;
        return !*entering || (scan(&entering, " ") && scan_number(&entering, 0, 5, &move->seat) && !*entering);
    }
    if (!scan_word(&text, steppers, &card) || !scan(&text, " ") || !scan_pawn(&text, move->pawn)) return false;
    move->kind = REFEREE_KEEZEN_STEP;
    strcpy(move->card, card);
    if (!*text) return true;
    move->kind = REFEREE_KEEZEN_SPLIT;
    return strcmp(card, "7") == 0 && scan(&text, " ") && scan_number(&text, 1, 6, &move->steps) && scan(&text, " ") &&
           scan_pawn(&text, move->other) && scan(&text, " ") && scan_number(&text, 1, 6, &move->other_steps) && !*text &&
           move->steps + move->other_steps == 7;
}

void referee_keezen_move_write(const referee_keezen_move *move, char text[REFEREE_MOVE_SIZE]) {
    switch (move->kind) {
    case REFEREE_KEEZEN_ENTER:
        if (move->seat < 0) snprintf(text, REFEREE_MOVE_SIZE, "%s enter", move->card);
        else snprintf(text, REFEREE_MOVE_SIZE, "%s enter %d", move->card, move->seat);
        break;
    case REFEREE_KEEZEN_STEP: snprintf(text, REFEREE_MOVE_SIZE, "%s %s", move->card, move->pawn); break;
    case REFEREE_KEEZEN_SPLIT:
        snprintf(text, REFEREE_MOVE_SIZE, "7 %s %d %s %d", move->pawn, move->steps, move->other, move->other_steps);
        break;
    case REFEREE_KEEZEN_SWAP: snprintf(text, REFEREE_MOVE_SIZE, "J %s %s", move->pawn, move->other); break;
    }
}
