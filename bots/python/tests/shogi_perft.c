/* Counts the leaves of positions of Shogi: lines of a depth and a SFEN in, the number out. */

#define OTHER_MAIN
#include "../../../examples/games/shogi/shogi.c"

static unsigned long perft(int depth) {
    generate(false);
    if (depth == 1) return (unsigned long)legal_count;
    int moves = legal_count;
    unsigned long leaves = 0;
    move *kept = malloc(sizeof(move) * (size_t)moves);
    memcpy(kept, legal, sizeof(move) * (size_t)moves);
    for (int index = 0; index < moves; index++) {
        int captured = make(kept[index]);
        leaves += perft(depth - 1);
        unmake(kept[index], captured);
    }
    free(kept);
    return leaves;
}

int main(void) {
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        char *sfen = strchr(line, ' ') + 1;
        sfen[strcspn(sfen, "\n")] = 0;
        const char *bad = read_sfen(sfen);
        if (bad) fail(bad);
        printf("%lu\n", perft(atoi(line)));
    }
}
