/* A bot for any game of the referee. It needs no library: the referee writes `type` first and no spaces, and moves are
   strings of ASCII without escapes. For the fields of `view`, take a JSON library. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A part of a line. */
typedef struct {
    const char *start;
    int length;
} text;

static int is_a(const char *line, const char *type) {
    const char *value = line + strlen("{\"type\":\"");
    size_t length = strlen(type);
    return strncmp(line, "{\"type\":\"", 9) == 0 && strncmp(value, type, length) == 0 && value[length] == '"';
}

/* The value of a field, up to one of the characters `end`. */
static text field(const char *line, const char *name, const char *end) {
    const char *found = strstr(line, name);
    const char *value = found ? found + strlen(name) : "";
    return (text){value, (int)strcspn(value, end)};
}

/* Chooses a move: `turn` is the request with the position, `legal` the list of the legal moves, `count` of them. */
static text choose(const char *turn, text legal, int count) {
    (void)turn;
    const char *move = legal.start + 1;
    for (int skip = rand() % count; skip > 0; skip--) {
        move = strchr(move, ',') + 2;
    }
    return (text){move, (int)strcspn(move, "\"")};
}

int main(void) {
    srand((unsigned)time(NULL) ^ (unsigned)getpid() << 16);
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        text match = field(line, "\"match\":\"", "\"");
        text seat = field(line, "\"seat\":", ",}");
        if (is_a(line, "hello")) {
            printf("{\"type\":\"hello\",\"protocol\":1,\"name\":\"@NAME@\"}\n");
        } else if (is_a(line, "start")) {
            printf("{\"type\":\"ready\",\"match\":\"%.*s\",\"seat\":%.*s}\n", match.length, match.start, seat.length,
                   seat.start);
        } else if (is_a(line, "turn")) {
            text turn = field(line, "\"turn\":", ",}");
            text legal = field(line, "\"legal\":[", "]");
            int count = 1;
            for (int i = 0; i < legal.length; i++) {
                count += legal.start[i] == ',';
            }
            text move = choose(line, legal, count);
            printf("{\"type\":\"move\",\"match\":\"%.*s\",\"seat\":%.*s,\"turn\":%.*s,\"move\":\"%.*s\"}\n", match.length,
                   match.start, seat.length, seat.start, turn.length, turn.start, move.length, move.start);
        } else if (is_a(line, "error")) {
            fputs(line, stderr);
        } else if (is_a(line, "bye")) {
            break;
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
