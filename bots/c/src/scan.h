/* Reading the texts of moves and the values of views, piece by piece: each returns false where it does not find its piece. */
#ifndef REFEREEBOT_SCAN_H
#define REFEREEBOT_SCAN_H

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "refereebot.h"

static inline bool scan(const char **at, const char *piece) {
    size_t length = strlen(piece);
    if (strncmp(*at, piece, length) != 0) return false;
    *at += length;
    return true;
}

/* A number without leading zeros. */
static inline bool scan_number(const char **at, int least, int most, int *number) {
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > 3 || (digits > 1 && **at == '0')) return false;
    *number = atoi(*at);
    *at += digits;
    return *number >= least && *number <= most;
}

/* One of some words, which ends where the text ends or a space follows. */
static inline bool scan_word(const char **at, const char *const *words, const char **word) {
    size_t length = strcspn(*at, " ");
    for (; *words; words++) {
        if (strlen(*words) == length && strncmp(*at, *words, length) == 0) {
            *word = *words;
            *at += length;
            return true;
        }
    }
    return false;
}

/* A square of a file and a rank. */
static inline bool scan_square(const char **at, char last_file, char last_rank, char square[3]) {
    const char *text = *at;
    if (text[0] < 'a' || text[0] > last_file || text[1] < '1' || text[1] > last_rank) return false;
    square[0] = text[0], square[1] = text[1], square[2] = '\0';
    *at += 2;
    return true;
}

/* A list of numbers, at most `most`. Returns how many; -1 if it is none. */
static inline int read_numbers(const cJSON *list, int most, int *numbers) {
    int count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count > most) return -1;
    const cJSON *number;
    cJSON_ArrayForEach(number, list) {
        if (!cJSON_IsNumber(number)) return -1;
        *numbers++ = number->valueint;
    }
    return count;
}

/* A list of texts, likewise. */
static inline int read_texts(const cJSON *list, int most, const char **texts) {
    int count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count > most) return -1;
    const cJSON *text;
    cJSON_ArrayForEach(text, list) {
        if (!cJSON_IsString(text)) return -1;
        *texts++ = text->valuestring;
    }
    return count;
}

static inline bool read_pair(const cJSON *view, const char *name, int pair[2]) {
    return read_numbers(field(view, name), 2, pair) == 2;
}

static inline bool read_to_move(const cJSON *view, referee_seats *seats) {
    return (seats->count = read_numbers(field(view, "to_move"), REFEREE_SEATS, seats->seat)) >= 0;
}

static inline bool read_number(const cJSON *view, const char *name, int *number) {
    const cJSON *found = field(view, name);
    *number = cJSON_IsNumber(found) ? found->valueint : 0;
    return cJSON_IsNumber(found);
}

#endif
