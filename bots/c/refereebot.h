/* SDK for bots in C: fill in a referee_bot and pass it to referee_run.
 *
 * Strings and values that the library passes to a callback are valid until the callback returns. Times are
 * milliseconds. Link with the output of `pkg-config --libs refereebot`. Requires POSIX and cJSON.
 */
#ifndef REFEREEBOT_H
#define REFEREEBOT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REFEREE_SEATS 6 /* no game has more */

/* ---- Messages ---- */

typedef struct referee_start { /* The start of a match in which the bot has `seat`. */
    const char *match;
    const char *game;
    int rules; /* the version of the game's rules */
    const cJSON *options;
    int seat;
    int seat_count;
    const char *names[REFEREE_SEATS]; /* by seat */
    int teams[REFEREE_SEATS];         /* the number of the side that each seat plays for */
    bool has_clock;                   /* false: there is no limit */
    int64_t delay_ms, bank_ms, increment_ms;
    const char *deal;       /* NULL in a mirrored set */
    const char *commitment; /* the SHA-256 that binds the referee to its seed */
    bool nonce;             /* a nonce is mixed into the chance of the match */
    bool unlisted;          /* the legal moves have no list, or it is hidden: no `legal` */
} referee_start;

typedef struct referee_turn { /* The referee asks for a decision. A bot needs to remember nothing. */
    const char *match;
    int seat;
    int64_t turn;       /* the request's id */
    const cJSON *view;  /* what the seat may see; NULL when `wants` left it out */
    const char **legal; /* every legal move, sorted */
    int legal_count;    /* 0 when `wants` left them out, or the game does not list them */
    bool has_clock;     /* false: there is no limit */
    int64_t bank_ms;    /* what the bank holds */
    int64_t limit_ms;   /* all the time there is for this answer */
    int64_t banks_ms[REFEREE_SEATS]; /* the banks of all seats; -1 for a seat without a clock */
    int64_t turns_left; /* -1 without a limit */
    bool draw_offered;  /* REFEREE_ACCEPT_DRAW is an answer too */
    bool is_retry;      /* the answer to the request `retry_of` was refused, for this reason */
    int64_t retry_of;
    const char *retry_code, *retry_message;
    const referee_start *start; /* how this match began */
    const cJSON *events;        /* an array: what happened in this match since its previous turn */
} referee_turn;

typedef struct referee_end { /* A match is over. */
    const char *match;
    int seat;
    const char *ended_by;
    const char *reason;
    int seat_count;              /* how many there are in these three, by seat; 0 when it was aborted */
    int ranks[REFEREE_SEATS];    /* from 1 */
    double scores[REFEREE_SEATS]; /* 0 to 1 */
    double amounts[REFEREE_SEATS]; /* in the unit of the game; NaN in games without amounts */
    int fault_seat;              /* -1: there was no fault that ended it */
    const char *fault_code, *fault_detail;
    const cJSON *reveal; /* seed, salt, deal and nonces; NULL when they may not be shown */
} referee_end;

typedef enum referee_reply_kind { REFEREE_MOVE, REFEREE_RESIGN, REFEREE_ACCEPT_DRAW, REFEREE_UNABLE } referee_reply_kind;

typedef enum referee_inability { /* Why a bot has no move: what chooses its moves ... */
    REFEREE_NO_LEGAL_MOVE, /* ... named none that is legal: a fault */
    REFEREE_UNAVAILABLE,   /* ... cannot be reached: the match is void where the organiser trusts bots, else a fault */
} referee_inability;

typedef struct referee_reply {
    referee_reply_kind kind;
    const char *move; /* for REFEREE_MOVE alone, as the next; it must outlive the return from `choose` */
    bool offer_draw;
    cJSON *info; /* for REFEREE_MOVE and REFEREE_UNABLE: NULL, or what the bot thought: an object, which the library deletes */
    referee_inability because; /* for REFEREE_UNABLE alone */
} referee_reply;

/* ---- The bot ---- */

typedef struct referee_bot {
    const char *name; /* 1 to 64 of ASCII letters, digits, '.', '_', '-' and space */
    const char *version, *author;
    const cJSON *details; /* what identifies how the bot plays, such as its model: an object with at most 32 texts of at most 256
                             characters, which stays the bot's; recorded. NULL: nothing */
    const char *const *games; /* ends in NULL; NULL: plays anything */
    int slots;                /* concurrent matches, identified by `match`; 0: one */
    const char *const *wants; /* of "view", "legal", "event", ends in NULL; NULL: all */
    bool push;                /* events arrive immediately instead of with the turn */

    void *data; /* handed to all of these, of which only `choose` must be there */
    referee_reply (*choose)(void *data, const referee_turn *turn);
    const char *(*start)(void *data, const referee_start *start); /* returns a nonce in hex, or NULL */
    void (*event)(void *data, const char *match, int seat, const cJSON *event);
    void (*end)(void *data, const referee_end *end);
} referee_bot;

/* Plays every match that the referee starts, until its bye or the end of the input. Returns the exit status for main;
 * stderr then contains the error.
 *
 * Reads --connect HOST:PORT, --token-file FILE and --name NAME from the arguments, passing over others, and the environment
 * variable REFEREE_TOKEN. Without --connect the bot uses stdin and stdout, and printf is redirected to stderr. */
int referee_run(const referee_bot *bot, int argc, char **argv);

static inline referee_reply referee_move(const char *move) {
    referee_reply reply = {REFEREE_MOVE, move, false, NULL, REFEREE_NO_LEGAL_MOVE};
    return reply;
}

/* ---- Imagined positions ----
 *
 * A running `referee imagine` answers what the view, the legal moves and the result would be after any moves, and plays random
 * continuations, without rules of one's own. It runs beside the bot, in the bot's time, and knows only the turns that the bot
 * passes to it. `referee spec imagine` specifies it. */

#define REFEREE_POSITIONS 64 /* so many positions are kept; the next one replaces the oldest */

typedef struct referee_imaginer referee_imaginer;

typedef struct referee_seat_move { /* a move of a seat */
    int seat;
    const char *move;
} referee_seat_move;

typedef struct referee_state { /* A position after some moves. */
    const cJSON *legal[REFEREE_SEATS]; /* the legal moves of each seat that decides, an array of texts; else NULL */
    const cJSON *view;                 /* of the seat `view_of` */
    int64_t turns_left;                /* -1 without a limit */
    bool is_over;
    double scores[REFEREE_SEATS]; /* 0 to 1, when the game is over */
    const char *reason;           /* the rule that ended it */
    cJSON *answer;                /* owns all of these */
} referee_state;

/* Starts a program; NULL stands for the one that the environment variable REFEREE names, or for `referee` on the PATH.
 * `games` are the directories of games whose rules are programs, ended by NULL; NULL stands for none. Returns NULL, with a reason on
 * stderr, if it cannot be started. */
referee_imaginer *referee_imaginer_start(const char *program, const char *const *games);
void referee_imaginer_end(referee_imaginer *imaginer);

/* Why the last call failed: a code of the specification and a text. */
const char *referee_imaginer_error(const referee_imaginer *imaginer);

/* Samples 1 to 256 worlds that agree with what the seat of a turn knows. Returns the number of the position; -1 if it
 * failed. */
int referee_imagine(referee_imaginer *imaginer, const referee_turn *turn, int worlds, int64_t seed);

/* Describes the position after these moves of all seats in a world, counted from 0; -1 as `view_of` stands for no view. False if
 * it failed; else clear the state after use. */
bool referee_explore(referee_imaginer *imaginer, int position, const referee_seat_move *moves, int count, int world,
                     int view_of, int64_t seed, referee_state *state);
void referee_state_clear(referee_state *state);

/* Plays random continuations after these moves, each in a world drawn at random, and gives the mean score of each seat. False if
 * it failed. */
bool referee_playouts(referee_imaginer *imaginer, int position, const referee_seat_move *moves, int count, int playouts,
                      int64_t seed, double scores[REFEREE_SEATS]);

/* ---- Games ----
 *
 * Each `..._view_read` reads the view of a turn and returns false if it is not of this game; its texts live as long as the
 * turn. Each `..._move_read` reads the text of a move and returns false if it is none; `..._move_write` writes it. */

#define REFEREE_MOVE_SIZE 64 /* the longest text of a move, its end included */

typedef struct referee_seats { /* who is to move */
    int count;
    int seat[REFEREE_SEATS];
} referee_seats;

/* Checkers: squares are numbered 1 to 32, seat 0 is Black. */
typedef struct referee_checkers_view {
    referee_seats to_move;
    const char *board; /* 32 letters, square 1 first: b and w men, B and W kings, . empty */
    const char *fen;   /* the same as PDN's FEN */
    int quiet_plies;
} referee_checkers_view;

typedef struct referee_checkers_move {
    enum { REFEREE_CHECKERS_STEP, REFEREE_CHECKERS_CAPTURE } kind;
    int length;
    int path[13]; /* every square that the piece visits */
} referee_checkers_move;

bool referee_checkers_view_read(const cJSON *view, referee_checkers_view *read);
bool referee_checkers_move_read(const char *text, referee_checkers_move *move);
void referee_checkers_move_write(const referee_checkers_move *move, char text[REFEREE_MOVE_SIZE]);

/* Chess: squares are a1 to h8; seat 0 is White. */
typedef struct referee_chess_view {
    referee_seats to_move;
    const char *board; /* 64 letters, a8 to h8 first, then a7 to h7, to h1: those of FEN, . empty */
    const char *fen;
    int check_count;
    const char *checks[2]; /* the squares of the pieces that give check */
    int occurrences;       /* how often the position has occurred, including now */
    const char *since_fen; /* after the last capture, move of a pawn or loss of a castling right */
    const cJSON *since_moves; /* an array of the texts of the moves since then */
} referee_chess_view;

typedef struct referee_chess_move {
    char start[3];
    char target[3]; /* of castling the king's, in Chess960 the square of its rook */
    char piece;     /* q, r, b or n; '\0' if the move is no promotion */
} referee_chess_move;

bool referee_chess_view_read(const cJSON *view, referee_chess_view *read);
bool referee_chess_move_read(const char *text, referee_chess_move *move);
void referee_chess_move_write(const referee_chess_move *move, char text[REFEREE_MOVE_SIZE]);

/* Jeex: fields are a1 to e3 but for the centre c2; seat 0 is White. */
typedef struct referee_jeex_stone {
    const char *field;
    int owner; /* the seat */
    const char *direction;
} referee_jeex_stone;

typedef struct referee_jeex_view {
    referee_seats to_move;
    const char *phase; /* opening or play */
    int stone_count;
    referee_jeex_stone stones[14];
    int supply[2]; /* what each seat can still place */
    int removed;
    int quiet_plies; /* rotations in a row */
} referee_jeex_view;

typedef struct referee_jeex_move {
    enum { REFEREE_JEEX_PLACE, REFEREE_JEEX_ROTATE, REFEREE_JEEX_CAPTURE, REFEREE_JEEX_CLAIM } kind;
    char field[3];
    char direction[3]; /* to place and to rotate */
    char target[3];    /* to capture */
} referee_jeex_move;

bool referee_jeex_view_read(const cJSON *view, referee_jeex_view *read);
bool referee_jeex_move_read(const char *text, referee_jeex_move *move);
void referee_jeex_move_write(const referee_jeex_move *move, char text[REFEREE_MOVE_SIZE]);

/* Saxum: dice, rows and columns are numbered from 1; pairs are by seat, but for the dice. */
typedef struct referee_saxum_view {
    referee_seats to_move;
    const char *phase;    /* six or field */
    int dice[2];          /* 0: no roll lies on the table, which no turn shows */
    const char *board[5]; /* rows, in each a letter for each column: 0 and 1 the stones of the seats, . free */
    int points[2], rows[2], insurance[2], supply[2];
} referee_saxum_view;

typedef struct referee_saxum_move {
    enum {
        REFEREE_SAXUM_REROLL,
        REFEREE_SAXUM_TURN,
        REFEREE_SAXUM_PLACE,
        REFEREE_SAXUM_SCORE,
        REFEREE_SAXUM_PAY,
        REFEREE_SAXUM_INSURE
    } kind;
    int die, face;   /* to reroll (without a face) and to turn */
    int row, column; /* else */
} referee_saxum_move;

bool referee_saxum_view_read(const cJSON *view, referee_saxum_view *read);
bool referee_saxum_move_read(const char *text, referee_saxum_move *move);
void referee_saxum_move_write(const referee_saxum_move *move, char text[REFEREE_MOVE_SIZE]);

/* Xe Queo!: squares are a1 to g7, pawns are neutral. */
#define REFEREE_PAWNS 7
extern const char *const referee_xe_queo_pawns[REFEREE_PAWNS]; /* red, orange, yellow, green, blue, purple, black */

typedef struct referee_xe_queo_moved {
    int seat;
    const char *pawn, *square;
} referee_xe_queo_moved;

typedef struct referee_xe_queo_view {
    int round;         /* from 1 */
    const char *phase; /* ring, choose, play or over */
    referee_seats to_move;
    int rings[2];
    const char *pawns[REFEREE_PAWNS]; /* the square of each, in the order of referee_xe_queo_pawns */
    const char *ring;                 /* its square; NULL until it is placed */
    const char *choice;               /* the pawn that the viewer has chosen in secret; NULL before that */
    const cJSON *moves;               /* those of this round: see referee_xe_queo_moved_read */
    int last_winner;                  /* of the last round; -1 in the first */
    const char *last_choices[2], *last_reason;
} referee_xe_queo_view;

typedef struct referee_xe_queo_move {
    enum { REFEREE_XE_QUEO_RING, REFEREE_XE_QUEO_CHOOSE, REFEREE_XE_QUEO_MOVE, REFEREE_XE_QUEO_ACCUSE } kind;
    const char *pawn; /* to choose, to move and to accuse: one of referee_xe_queo_pawns */
    char square[3];   /* for the ring and to move */
} referee_xe_queo_move;

bool referee_xe_queo_view_read(const cJSON *view, referee_xe_queo_view *read);
bool referee_xe_queo_moved_read(const cJSON *element, referee_xe_queo_moved *moved); /* an element of `moves` */
bool referee_xe_queo_move_read(const char *text, referee_xe_queo_move *move);
void referee_xe_queo_move_write(const referee_xe_queo_move *move, char text[REFEREE_MOVE_SIZE]);

/* Keezen: a pawn is named by its position: base, t17 on the track, h0.1 in the home of seat 0. */
typedef struct referee_keezen_cards {
    int count; /* -1: they cannot be seen */
    const char *card[5];
} referee_keezen_cards;

typedef struct referee_keezen_view {
    referee_seats to_move;
    int track; /* how many squares it has */
    int seat_count;
    int starts[REFEREE_SEATS];
    const char *pawns[REFEREE_SEATS][4];
    referee_keezen_cards hand;                 /* the viewer's */
    referee_keezen_cards hands[REFEREE_SEATS]; /* of others, as far as the viewer may see them */
    int cards[REFEREE_SEATS];                  /* how many each hand holds */
    int dealer, cycle;
    int deal; /* 0 to 2 within the cycle */
    int pile_count;
    const char *pile[78]; /* cards played and handed in within this cycle, in order */
    int playing_for;      /* the seat whose pawns the seat to move plays; -1 when no seat is to move */
} referee_keezen_view;

typedef struct referee_keezen_move {
    enum { REFEREE_KEEZEN_ENTER, REFEREE_KEEZEN_STEP, REFEREE_KEEZEN_SPLIT, REFEREE_KEEZEN_SWAP } kind;
    char card[3];
    int seat;                     /* to enter: the partner's, -1 for an own pawn */
    char pawn[5];                 /* else */
    char other[5];                /* to split and to swap */
    int steps, other_steps;       /* to split */
} referee_keezen_move;

bool referee_keezen_view_read(const cJSON *view, referee_keezen_view *read);
bool referee_keezen_move_read(const char *text, referee_keezen_move *move);
void referee_keezen_move_write(const referee_keezen_move *move, char text[REFEREE_MOVE_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
