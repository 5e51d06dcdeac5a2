/* Plays a random legal move, in any game; resigns where the game does not list its moves. `--seed N` makes its choices repeatable, `--slots N` plays N matches at once. */
#define _DEFAULT_SOURCE

#include <refereebot.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static referee_reply choose(void *data, const referee_turn *turn) {
    (void)data;
    if (turn->legal_count == 0) return (referee_reply){.kind = REFEREE_RESIGN};
    return referee_move(turn->legal[random() % turn->legal_count]);
}

int main(int argc, char **argv) {
    int slots = 1;
    srandom((unsigned)(time(NULL) ^ getpid()));
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0) srandom((unsigned)strtoul(argv[i + 1], NULL, 10));
        if (strcmp(argv[i], "--slots") == 0) slots = atoi(argv[i + 1]);
    }
    /* It looks at nothing but the legal moves, so it asks for nothing else. */
    static const char *const wants[] = {"legal", NULL};
    referee_bot bot = {.name = "random", .version = "0.1.0", .wants = wants, .slots = slots, .choose = choose};
    return referee_run(&bot, argc, argv);
}
