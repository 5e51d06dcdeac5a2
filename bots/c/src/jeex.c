#include <stdio.h>

#include "scan.h"

static const char *const directions[] = {"N", "NE", "E", "SE", "S", "SW", "W", "NW", NULL};

bool referee_jeex_view_read(const cJSON *view, referee_jeex_view *read) {
    const cJSON *stones = field(view, "stones"), *stone;
    read->phase = text_of(view, "phase");
    read->stone_count = 0;
    cJSON_ArrayForEach(stone, stones) {
        const cJSON *owner = cJSON_GetArrayItem(stone, 0), *direction = cJSON_GetArrayItem(stone, 1);
        if (read->stone_count == 14 || !cJSON_IsNumber(owner) || !cJSON_IsString(direction)) return false;
        referee_jeex_stone found = {stone->string, owner->valueint, direction->valuestring};
        read->stones[read->stone_count++] = found;
    }
    return read_to_move(view, &read->to_move) && read->phase && cJSON_IsObject(stones) &&
           read_pair(view, "supply", read->supply) && read_number(view, "removed", &read->removed) &&
           read_number(view, "quiet_plies", &read->quiet_plies);
}

static bool scan_field(const char **at, char found[3]) { return scan_square(at, 'e', '3', found) && strcmp(found, "c2") != 0; }

static bool scan_direction(const char **at, char found[3]) {
    const char *direction;
    if (!scan(at, " ") || !scan_word(at, directions, &direction)) return false;
    strcpy(found, direction);
    return true;
}

bool referee_jeex_move_read(const char *text, referee_jeex_move *move) {
    memset(move, 0, sizeof *move);
    if (strcmp(text, "claim") == 0) {
        move->kind = REFEREE_JEEX_CLAIM;
        return true;
    }
    if (scan(&text, "capture ")) {
        move->kind = REFEREE_JEEX_CAPTURE;
        return scan_field(&text, move->field) && scan(&text, " ") && scan_field(&text, move->target) && !*text;
    }
    move->kind = REFEREE_JEEX_PLACE;
    if (!scan(&text, "place ")) {
        move->kind = REFEREE_JEEX_ROTATE;
        if (!scan(&text, "rotate ")) return false;
    }
    return scan_field(&text, move->field) && scan_direction(&text, move->direction) && !*text;
}

void referee_jeex_move_write(const referee_jeex_move *move, char text[REFEREE_MOVE_SIZE]) {
    static const char *const words[] = {"place", "rotate", "capture"};
    if (move->kind == REFEREE_JEEX_CLAIM) {
        strcpy(text, "claim");
        return;
    }
    const char *last = move->kind == REFEREE_JEEX_CAPTURE ? move->target : move->direction;
    snprintf(text, REFEREE_MOVE_SIZE, "%s %s %s", words[move->kind], move->field, last);
}
