/* A UCI engine that answers at once: it plays the moves of a fixed game. For `engines.py`. */
#include <stdio.h>
#include <string.h>

/* Without captures, checks, repetitions or an end. */
static const char *const GAME[] = {
    "h2h4", "g7g5", "h1h2", "e7e6", "e2e4", "h7h6", "d1g4", "a7a5", "e1d1", "a8a6", "g2g3", "f7f6", "f1h3", "a6b6", "h3g2",
    "e8e7", "g4f3", "b8c6", "b1a3", "c6e5", "b2b4", "c7c6", "a1b1", "a5a4", "c2c3", "e7e8", "h2h3", "f8e7", "g3g4", "e8f7",
    "b1a1", "e7c5", "g1e2", "c5e7", "f3f5", "b6b5", "g2f1", "e7d6", "a1b1", "e5d3", "h3f3", "b7b6", "f1h3", "d6e5", "h3g2",
    "d7d6", "b1b2", "h8h7", "f3h3", "d3f4", "e2d4", "f4e2", "f2f4", "d6d5", "h4h5", "g8e7", "d1c2", "f7g7", "a3b1", "c8d7",
};

int main(void) {
    static char line[1 << 16];
    size_t ply = 0;
    setvbuf(stdout, NULL, _IOLBF, 4096);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "position", 8) == 0) {
            const char *moves = strstr(line, " moves ");
            ply = 0;
            for (const char *at = moves ? moves + 6 : ""; (at = strchr(at, ' ')); at++)
                ply += at[1] > ' ';
        } else if (strncmp(line, "go", 2) == 0) {
            printf("info depth 1 score cp 0\nbestmove %s\n", GAME[ply % (sizeof GAME / sizeof *GAME)]);
        } else if (strncmp(line, "isready", 7) == 0) {
            puts("readyok");
        } else if (strncmp(line, "ucinewgame", 10) == 0) {
            continue;
        } else if (strncmp(line, "uci", 3) == 0) {
            puts("id name instant\nuciok");
        } else if (strncmp(line, "quit", 4) == 0) {
            return 0;
        }
    }
    return 0;
}
