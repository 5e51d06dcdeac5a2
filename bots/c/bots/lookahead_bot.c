/* Plays checkers, looking some plies ahead (alpha-beta); in other games a random move. `--seed N` makes it repeatable. */
#define _DEFAULT_SOURCE

#include <ctype.h>
#include <refereebot.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PLIES = 6, MAN = 100, KING = 150, ADVANCE = 2, LOST = 10000, MOST_MOVES = 64 };

typedef struct board {
    char squares[32]; /* b w men, B W kings, . empty */
} board;

typedef struct moves {
    int count;
    board after[MOST_MOVES];
} moves;

/* The square `steps` diagonal steps away, in rows down or up and to the left or right; -1 off the board. Squares are
 * counted from 0, on the odd columns of even rows. */
static int away(int square, int down, int right, int steps) {
    int row = square / 4, column = square % 4 * 2 + (row + 1) % 2;
    row += down * steps;
    column += right * steps;
    return row < 0 || row > 7 || column < 0 || column > 7 ? -1 : row * 4 + column / 2;
}

static char colour(char piece) { return (char)tolower((unsigned char)piece); }
static char other(char side) { return side == 'b' ? 'w' : 'b'; }

static bool may_go(char piece, int down) { return isupper((unsigned char)piece) || (piece == 'b') == (down > 0); }

static void land(board *board, int square, char piece) {
    int far_row = piece == 'b' ? 7 : 0;
    board->squares[square] = islower((unsigned char)piece) && square / 4 == far_row ? (char)toupper(piece) : piece;
}

static void add(moves *moves, const board *after) {
    if (moves->count < MOST_MOVES) moves->after[moves->count++] = *after;
}

/* Adds what follows from all captures that a piece, lifted from the board, can go on with; false if there is none. */
static bool capture(const board *lifted, int square, char piece, moves *moves) {
    bool found = false;
    for (int way = 0; way < 4; way++) {
        int down = way & 1 ? 1 : -1, right = way & 2 ? 1 : -1;
        int over = away(square, down, right, 1), to = away(square, down, right, 2);
        if (!may_go(piece, down) || to < 0 || lifted->squares[to] != '.') continue;
        if (colour(lifted->squares[over]) != other(colour(piece))) continue;
        board next = *lifted;
        next.squares[over] = '.';
        found = true;
        if (!capture(&next, to, piece, moves)) {
            land(&next, to, piece);
            add(moves, &next);
        }
    }
    return found;
}

static void generate(const board *from, char side, moves *moves) {
    moves->count = 0;
    for (int pass = 0; pass < 2 && moves->count == 0; pass++) { /* captures first: they are compulsory */
        for (int square = 0; square < 32; square++) {
            char piece = from->squares[square];
            if (colour(piece) != side) continue;
            board lifted = *from;
            lifted.squares[square] = '.';
            if (pass == 0) {
                capture(&lifted, square, piece, moves);
                continue;
            }
            for (int way = 0; way < 4; way++) {
                int down = way & 1 ? 1 : -1, to = away(square, down, way & 2 ? 1 : -1, 1);
                if (!may_go(piece, down) || to < 0 || from->squares[to] != '.') continue;
                board after = lifted;
                land(&after, to, piece);
                add(moves, &after);
            }
        }
    }
}

static int value(const board *board, char side) {
    int total = 0;
    for (int square = 0; square < 32; square++) {
        char piece = board->squares[square];
        if (piece == '.') continue;
        int gone = piece == 'b' ? square / 4 : 7 - square / 4;
        int worth = isupper((unsigned char)piece) ? KING : MAN + ADVANCE * gone;
        total += colour(piece) == side ? worth : -worth;
    }
    return total;
}

/* What a board is worth to the side to move. */
static int search(const board *board, char side, int plies, int alpha, int beta) {
    moves moves;
    generate(board, side, &moves);
    if (moves.count == 0) return -LOST - plies; /* the sooner the worse */
    if (plies <= 0) return value(board, side);
    for (int i = 0; i < moves.count && alpha < beta; i++) {
        int worth = -search(&moves.after[i], other(side), plies - 1, -beta, -alpha);
        if (worth > alpha) alpha = worth;
    }
    return alpha;
}

static board after(const char *squares, const referee_checkers_move *move) {
    board board;
    memcpy(board.squares, squares, 32);
    int last = move->path[move->length - 1] - 1;
    char piece = board.squares[move->path[0] - 1];
    board.squares[move->path[0] - 1] = '.';
    for (int i = 1; move->kind == REFEREE_CHECKERS_CAPTURE && i < move->length; i++) {
        int from = move->path[i - 1] - 1, to = move->path[i] - 1, down = to > from ? 1 : -1;
        int left = away(from, down, -1, 2) == to ? -1 : 1;
        board.squares[away(from, down, left, 1)] = '.';
    }
    land(&board, last, piece);
    return board;
}

static referee_reply choose(void *data, const referee_turn *turn) {
    (void)data;
    referee_checkers_view view;
    referee_checkers_move move;
    int chosen = (int)(random() % turn->legal_count), best = -2 * LOST, first = chosen;
    if (strcmp(turn->start->game, "checkers") == 0 && referee_checkers_view_read(turn->view, &view)) {
        char side = "bw"[turn->seat];
        for (int i = 0; i < turn->legal_count; i++) { /* from a random one on, so that equal ones are drawn */
            int at = (first + i) % turn->legal_count;
            if (!referee_checkers_move_read(turn->legal[at], &move)) continue;
            board next = after(view.board, &move);
            int worth = -search(&next, other(side), PLIES - 1, -2 * LOST, -best);
            if (worth > best) best = worth, chosen = at;
        }
    }
    return referee_move(turn->legal[chosen]);
}

int main(int argc, char **argv) {
    srandom((unsigned)(time(NULL) ^ getpid()));
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0) srandom((unsigned)strtoul(argv[i + 1], NULL, 10));
    }
    static const char *const wants[] = {"view", "legal", NULL};
    referee_bot bot = {.name = "lookahead", .version = "0.1.0", .wants = wants, .choose = choose};
    return referee_run(&bot, argc, argv);
}
