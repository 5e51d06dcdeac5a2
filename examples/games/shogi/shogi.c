/* The rules of Shogi: see rules.md. */

#include "../rules.h"

enum {
    SIZE = 9,
    /* A square is a number; the rim is as wide as a knight jumps. */
    ROW = SIZE + 2,
    SQUARES = ROW * (SIZE + 4),
    MOST_PLIES = 2000,
    MOST_LEGAL = 1024,
    MOST_SFEN = 160,
};

enum { EMPTY, PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK, KING, PROMOTED = 8, TYPE = 15, BLACK = 16, WHITE = 32, RIM = 64 };

static const char LETTERS[] = " PLNSGBRK";
static const char *const CSA[] = {
    "", "FU", "KY", "KE", "GI", "KI", "KA", "HI", "OU", "TO", "NY", "NK", "NG", "", "UM", "RY",
};
static const char *const SIGNS[] = {
    "", "歩", "香", "桂", "銀", "金", "角", "飛", "玉", "と", "杏", "圭", "全", "", "馬", "竜",
};
static const int AMOUNTS[] = {0, 18, 4, 4, 4, 4, 2, 2, 2};

/* The eight directions; the opposite of one is 7 less it. */
static const int DIRECTIONS[8] = {-ROW - 1, -ROW, -ROW + 1, -1, 1, ROW - 1, ROW, ROW + 1};
/* Those in which a black piece steps and slides, by its type, as bits. */
enum { AHEAD = 1 << 1, DIAGONAL = 1 << 0 | 1 << 2 | 1 << 5 | 1 << 7, STRAIGHT = AHEAD | 1 << 3 | 1 << 4 | 1 << 6 };
enum { LIKE_GOLD = STRAIGHT | 1 << 0 | 1 << 2 };
static const int STEPS[] = {
    0, AHEAD, 0, 0, DIAGONAL | AHEAD, LIKE_GOLD, 0, 0, DIAGONAL | STRAIGHT,
    LIKE_GOLD, LIKE_GOLD, LIKE_GOLD, LIKE_GOLD, 0, STRAIGHT, DIAGONAL,
};
static const int SLIDES[] = {0, 0, AHEAD, 0, 0, 0, DIAGONAL, STRAIGHT, 0, 0, 0, 0, 0, 0, DIAGONAL, STRAIGHT};

typedef struct {
    short from, to; /* from: 0 for a drop */
    char type; /* of a drop */
    bool promotes;
} move;

/* A position. */
static unsigned char board[SQUARES];
static unsigned char hands[2][KING]; /* by seat and type */
static int to_move;
static int king[2];
static char start_sfen[MOST_SFEN];
static int first_number, first_to_move;
static int most_plies;
static bool has_declaration;
static move plies[MOST_PLIES];
static int count;
static bool is_declared;
/* Of all positions so far, that of the board last. */
static uint64_t keys[MOST_PLIES + 1];
static bool checks[MOST_PLIES + 1];
/* The moves and keys that a text has already: most are copied. */
static kept_text moves_text, keys_text;

static move legal[MOST_LEGAL];
static int legal_count;

static int square(int column, int row) {
    return (row + 2) * ROW + column + 1;
}

static int column_of(int at) {
    return at % ROW - 1;
}

static int row_of(int at) {
    return at / ROW - 2;
}

static int colour_of(int seat) {
    return seat ? WHITE : BLACK;
}

/* The row from the side that a seat plays towards. */
static int depth(int seat, int at) {
    return seat ? SIZE - 1 - row_of(at) : row_of(at);
}

static uint64_t mixed(uint64_t z) {
    z *= 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The key of the position: of the board, the hands and the side to move (Steele's splitmix). */
static uint64_t key_of(void) {
    uint64_t key = (uint64_t)to_move;
    for (int at = 0; at < SQUARES; at++) {
        if (board[at] & (BLACK | WHITE)) key ^= mixed((uint64_t)(at << 8 | board[at]));
    }
    for (int held = 2; held < 2 * KING; held++) {
        unsigned char amount = hands[held % 2][held / 2];
        if (amount) key ^= mixed((uint64_t)(1 << 20 | held << 8 | amount));
    }
    return key & ((1ull << 5 * KEY) - 1);
}

/* Attacks and moves. */

static bool is_attacked(int at, int by) {
    int colour = colour_of(by);
    for (int to = 0; to < 8; to++) {
        int near = at + DIRECTIONS[to], direction = by ? to : 7 - to;
        bool is_next = true;
        while (board[near] == EMPTY) near += DIRECTIONS[to], is_next = false;
        if (!(board[near] & colour)) continue;
        int type = board[near] & TYPE;
        if ((SLIDES[type] | (is_next ? STEPS[type] : 0)) >> direction & 1) return true;
    }
    int behind = by ? -2 * ROW : 2 * ROW;
    return board[at + behind - 1] == (colour | KNIGHT) || board[at + behind + 1] == (colour | KNIGHT);
}

static bool is_in_check(int seat) {
    return king[seat] && is_attacked(king[seat], 1 - seat);
}

/* Makes a move on the board. Returns what was on its square. */
static int make(move made) {
    int colour = colour_of(to_move), captured = board[made.to];
    if (made.from) {
        int piece = board[made.from] | (made.promotes ? PROMOTED : 0);
        board[made.from] = EMPTY;
        board[made.to] = (unsigned char)piece;
        if ((piece & TYPE) == KING) king[to_move] = made.to;
        if (captured) hands[to_move][captured & (PROMOTED - 1)]++;
    } else {
        board[made.to] = (unsigned char)(colour | made.type);
        hands[to_move][(int)made.type]--;
    }
    to_move = 1 - to_move;
    return captured;
}

static void unmake(move made, int captured) {
    to_move = 1 - to_move;
    if (made.from) {
        int piece = board[made.to] & ~(made.promotes ? PROMOTED : 0);
        board[made.from] = (unsigned char)piece;
        if ((piece & TYPE) == KING) king[to_move] = made.from;
        if (captured) hands[to_move][captured & (PROMOTED - 1)]--;
    } else {
        hands[to_move][(int)made.type]++;
    }
    board[made.to] = (unsigned char)captured;
}

/* Whether a square is on a line with a king, so that what leaves it may leave the king in check. */
static bool is_on_line(int at, int with) {
    int columns = column_of(at) - column_of(with), rows = row_of(at) - row_of(with);
    return !columns || !rows || columns == rows || columns == -rows;
}

static void generate(bool with_mates);

/* Whether a pawn that was dropped mates: the side to move has no legal move. */
static bool is_mate(void) {
    static move kept[MOST_LEGAL];
    int before = legal_count;
    memcpy(kept, legal, sizeof(move) * (size_t)before);
    generate(true);
    bool has_none = !legal_count;
    memcpy(legal, kept, sizeof(move) * (size_t)before);
    legal_count = before;
    return has_none;
}

/* Adds a move if it leaves no king in check. */
static void add(move made, bool is_checked, bool with_mates) {
    int seat = to_move;
    bool is_of_king = made.from && made.from == king[seat];
    bool is_pawn = !made.from && made.type == PAWN;
    int before = made.to + (seat ? ROW : -ROW);
    bool may_mate = !with_mates && is_pawn && before == king[1 - seat];
    bool may_expose = is_checked || is_of_king || (made.from && king[seat] && is_on_line(made.from, king[seat]));
    if (may_expose || may_mate) {
        int captured = make(made);
        bool is_legal = !is_in_check(seat) && !(may_mate && is_mate());
        unmake(made, captured);
        if (!is_legal) return;
    }
    legal[legal_count++] = made;
}

/* Adds the moves of a piece to a square, promoting or not. */
static void add_moves(int from, int to, bool is_checked, bool with_mates) {
    int type = board[from] & TYPE;
    bool promotes = type < KING && type != GOLD && (depth(to_move, from) < 3 || depth(to_move, to) < 3);
    if (promotes) add((move){.from = (short)from, .to = (short)to, .promotes = true}, is_checked, with_mates);
    int behind = type == KNIGHT ? 2 : type == PAWN || type == LANCE ? 1 : 0;
    if (depth(to_move, to) < behind) return;
    add((move){.from = (short)from, .to = (short)to}, is_checked, with_mates);
}

/* Finds the legal moves. Without mates, a pawn is not dropped to mate. */
static void generate(bool with_mates) {
    int colour = colour_of(to_move), ahead = to_move ? ROW : -ROW;
    bool is_checked = is_in_check(to_move);
    legal_count = 0;
    bool has_pawn[SIZE] = {false};
    for (int at = square(0, 0); at <= square(SIZE - 1, SIZE - 1); at++) {
        if (!(board[at] & colour)) continue;
        int type = board[at] & TYPE;
        if (type == PAWN) has_pawn[column_of(at)] = true;
        if (type == KNIGHT) {
            for (int side = -1; side <= 1; side += 2) {
                int to = at + 2 * ahead + side;
                if (!(board[to] & (colour | RIM))) add_moves(at, to, is_checked, with_mates);
            }
        }
        for (int direction = 0; direction < 8; direction++) {
            int of = to_move ? 7 - direction : direction;
            bool slides = SLIDES[type] >> of & 1;
            if (!slides && !(STEPS[type] >> of & 1)) continue;
            int to = at;
            do {
                to += DIRECTIONS[direction];
                if (board[to] & (colour | RIM)) break;
                add_moves(at, to, is_checked, with_mates);
            } while (slides && board[to] == EMPTY);
        }
    }
    for (int at = square(0, 0); at <= square(SIZE - 1, SIZE - 1); at++) {
        if (board[at] != EMPTY) continue;
        for (int type = PAWN; type < KING; type++) {
            int behind = type == KNIGHT ? 2 : type == PAWN || type == LANCE ? 1 : 0;
            if (!hands[to_move][type] || depth(to_move, at) < behind) continue;
            if (type == PAWN && has_pawn[column_of(at)]) continue;
            add((move){.to = (short)at, .type = (char)type}, is_checked, with_mates);
        }
    }
}

/* Whether the side to move may declare a win by the 27 points of the CSA. */
static bool may_declare(void) {
    if (!has_declaration || !king[to_move] || depth(to_move, king[to_move]) >= 3 || is_in_check(to_move)) return false;
    int pieces = 0, points = 0;
    for (int at = square(0, 0); at <= square(SIZE - 1, SIZE - 1); at++) {
        int type = board[at] & (PROMOTED - 1);
        if (!(board[at] & colour_of(to_move)) || at == king[to_move] || depth(to_move, at) >= 3) continue;
        pieces++;
        points += type == BISHOP || type == ROOK ? 5 : 1;
    }
    for (int type = PAWN; type < KING; type++) {
        points += hands[to_move][type] * (type == BISHOP || type == ROOK ? 5 : 1);
    }
    return pieces >= 10 && points >= (to_move ? 27 : 28);
}

/* How often the position was there, with this time. */
static int repetitions(void) {
    int times = 0;
    for (int at = 0; at <= count; at++) times += keys[at] == keys[count];
    return times;
}

/* The seat that has given check with every move since the position was there first, or -1. */
static int perpetual(void) {
    int since = 0;
    while (keys[since] != keys[count]) since++;
    for (int seat = 0; seat < 2; seat++) {
        bool always = true;
        for (int at = since + 1; at <= count; at++) {
            bool is_its_turn = (first_to_move + at) % 2 == seat;
            if (!is_its_turn) always &= checks[at];
        }
        if (always) return seat;
    }
    return -1;
}

/* What ends the match, and who wins, -1 for nobody; the legal moves are known then. */
static const char *over(int *winner) {
    *winner = -1;
    if (is_declared) {
        *winner = to_move;
        return "declaration";
    }
    if (repetitions() >= 4) {
        int checking = perpetual();
        if (checking >= 0) *winner = 1 - checking;
        return checking >= 0 ? "perpetual_check" : "repetition";
    }
    generate(false);
    if (!legal_count && !may_declare()) {
        *winner = 1 - to_move;
        return is_in_check(to_move) ? "checkmate" : "no_moves";
    }
    return count == most_plies ? "turn_limit" : NULL;
}

static void play(move made) {
    if (count == MOST_PLIES) fail("the match has too many moves");
    make(made);
    plies[count++] = made;
    keys[count] = key_of();
    checks[count] = is_in_check(to_move);
}

/* Moves, as USI writes them. */

static void put_square(int at) {
    put_char((char)('9' - column_of(at)));
    put_char((char)('a' + row_of(at)));
}

static void put_move(move made) {
    if (made.from) put_square(made.from);
    else put("%s*", (char[]){LETTERS[(int)made.type], 0});
    put_square(made.to);
    if (made.promotes) put_char('+');
}

static int read_square(const char *text) {
    if (text[0] < '1' || text[0] > '9' || text[1] < 'a' || text[1] > 'i') fail("a move names no square");
    return square('9' - text[0], text[1] - 'a');
}

static move read_move(const char *value) {
    const char *text = value + 1;
    move made = {.to = (short)read_square(text + 2)};
    if (text[1] == '*') {
        while (LETTERS[(int)made.type] && LETTERS[(int)made.type] != text[0]) made.type++;
    } else {
        made.from = (short)read_square(text);
        made.promotes = text[4] == '+';
    }
    return made;
}

static void put_moves(void) {
    const char *text = put_kept(&moves_text);
    for (int ply = moves_text.count; ply < count; ply++) {
        put(ply ? ",\"" : "\"");
        put_move(plies[ply]);
        put("\"");
    }
    keep(&moves_text, text, end, count);
    if (is_declared) put(count ? ",\"win\"" : "\"win\"");
}

/* Positions, as SFEN. */

static void put_piece(int piece) {
    if (piece & PROMOTED && (piece & TYPE) != KING) put_char('+');
    char letter = LETTERS[(piece & TYPE) == KING ? KING : piece & (PROMOTED - 1)];
    put_char(piece & WHITE ? (char)(letter + 'a' - 'A') : letter);
}

static void put_sfen(void) {
    for (int row = 0; row < SIZE; row++) {
        int empty = 0;
        for (int column = 0; column < SIZE; column++) {
            int piece = board[square(column, row)];
            if (piece == EMPTY) {
                empty++;
                continue;
            }
            if (empty) put_number(empty);
            empty = 0;
            put_piece(piece);
        }
        if (empty) put_number(empty);
        if (row < SIZE - 1) put_char('/');
    }
    put(to_move ? " w " : " b ");
    static const int ORDER[] = {ROOK, BISHOP, GOLD, SILVER, KNIGHT, LANCE, PAWN};
    bool is_empty = true;
    for (int seat = 0; seat < 2; seat++) {
        for (int index = 0; index < 7; index++) {
            int amount = hands[seat][ORDER[index]];
            if (!amount) continue;
            is_empty = false;
            if (amount > 1) put_number(amount);
            put_piece(colour_of(seat) | ORDER[index]);
        }
    }
    if (is_empty) put("-");
    put(" %d", first_number + count);
}

/* The type and the colour of a letter; 0 if it is none. */
static int read_letter(char letter) {
    bool is_white = letter >= 'a';
    for (int type = PAWN; type <= KING; type++) {
        if (LETTERS[type] == (is_white ? letter - 'a' + 'A' : letter)) return type | (is_white ? WHITE : BLACK);
    }
    return 0;
}

/* Reads a position. Returns why it is none. */
static const char *read_sfen(const char *at) {
    memset(board, RIM, sizeof board);
    memset(hands, 0, sizeof hands);
    king[0] = king[1] = 0;
    int pieces[KING + 1] = {0}, kings[2] = {0};
    for (int row = 0; row < SIZE; row++) {
        int column = 0;
        while (*at && *at != '/' && *at != ' ') {
            if (*at >= '1' && *at <= '9') {
                for (int empty = *at++ - '0'; empty; empty--) {
                    if (column == SIZE) return "sfen: a rank has more than nine squares";
                    board[square(column++, row)] = EMPTY;
                }
                continue;
            }
            bool is_promoted = *at == '+';
            int piece = read_letter(at[is_promoted]);
            if (!piece || (is_promoted && ((piece & TYPE) == GOLD || (piece & TYPE) == KING))) {
                return "sfen: expected the letters of pieces, + before promoted ones, and the numbers of empty squares";
            }
            at += 1 + is_promoted;
            if (column == SIZE) return "sfen: a rank has more than nine squares";
            int type = piece & TYPE, seat = piece & WHITE ? 1 : 0, to = square(column++, row);
            pieces[type]++;
            if (type == KING) king[seat] = to, kings[seat]++;
            int behind = is_promoted ? 0 : type == KNIGHT ? 2 : type == PAWN || type == LANCE ? 1 : 0;
            if (depth(seat, to) < behind) return "sfen: a piece has no square to go to";
            board[to] = (unsigned char)(piece | (is_promoted ? PROMOTED : 0));
        }
        if (column < SIZE) return "sfen: a rank has less than nine squares";
        if (*at != (row < SIZE - 1 ? '/' : ' ')) return "sfen: expected nine ranks";
        at++;
    }
    if ((*at != 'b' && *at != 'w') || at[1] != ' ') return "sfen: expected b or w after the board";
    to_move = *at == 'w';
    at += 2;
    if (*at == '-') {
        at++;
    } else {
        while (*at && *at != ' ') {
            int amount = 0;
            while (*at >= '0' && *at <= '9' && amount < 100) amount = 10 * amount + *at++ - '0';
            int piece = read_letter(*at), type = piece & TYPE;
            if (!piece || type == KING) return "sfen: expected the pieces in hand, or -";
            if (!amount) amount = 1;
            if (amount > AMOUNTS[type]) return "sfen: there are more pieces of a type than in a set";
            hands[piece & WHITE ? 1 : 0][type] += (unsigned char)amount;
            pieces[type] += amount;
            at++;
        }
    }
    if (*at != ' ' || at[1] < '0' || at[1] > '9') return "sfen: expected the number of the next move at the end";
    first_number = (int)whole(at + 1);
    first_to_move = to_move;
    if (kings[0] != 1 || kings[1] != 1) return "sfen: expected a king of each side";
    for (int type = PAWN; type < KING; type++) {
        if (pieces[type] > AMOUNTS[type]) return "sfen: there are more pieces of a type than in a set";
    }
    for (int column = 0; column < SIZE; column++) {
        int pawns[2] = {0};
        for (int row = 0; row < SIZE; row++) {
            int piece = board[square(column, row)];
            if ((piece & TYPE) == PAWN) pawns[piece & WHITE ? 1 : 0]++;
        }
        if (pawns[0] > 1 || pawns[1] > 1) return "sfen: two pawns of a side are on one file";
    }
    if (is_in_check(1 - to_move)) return "sfen: the side that is not to move is in check";
    return NULL;
}

/* Options and states. */

/* The initial position. Returns why there is none. */
static const char *start(const char *options) {
    copy_text(field(options, "sfen"), start_sfen, sizeof start_sfen);
    has_declaration = *field(options, "declaration") == 't';
    most_plies = number(options, "moves");
    if (most_plies < 1 || most_plies > MOST_PLIES) return "moves: expected 1 to 2000";
    const char *bad = read_sfen(start_sfen);
    count = 0;
    keys[0] = key_of();
    checks[0] = is_in_check(to_move);
    return bad;
}

static void put_state(void) {
    put("{\"sfen\":\"");
    put_sfen();
    put("\",\"start\":\"%s\",\"declaration\":%s,\"limit\":%d,\"keys\":\"", start_sfen, has_declaration ? "true" : "false", most_plies);
    /* After each key comes whether the side to move is in check. */
    put_kept(&keys_text);
    for (int at = keys_text.count; at <= count; at++) {
        put_key(keys[at]);
        put_char(checks[at] ? '1' : '0');
    }
    put("\",\"moves\":[");
    put_moves();
    put("]}");
}

/* Reads a state, which is as `put_state` wrote it, and returns its end. */
static const char *read_state(const char *state) {
    char sfen[MOST_SFEN];
    copy_text(field(state, "start"), start_sfen, sizeof start_sfen);
    read_sfen(start_sfen);
    int number_of_start = first_number, seat_of_start = first_to_move;
    copy_text(field(state, "sfen"), sfen, sizeof sfen);
    read_sfen(sfen);
    first_number = number_of_start;
    first_to_move = seat_of_start;
    has_declaration = *field(state, "declaration") == 't';
    most_plies = number(state, "limit");
    const char *key = field(state, "keys") + 1, *first_key = key;
    int positions = 0;
    for (; *key != '"'; key += KEY + 1) {
        keys[positions] = read_key(key);
        checks[positions++] = key[KEY] == '1';
    }
    keep(&keys_text, first_key, key, positions);
    const char *list = field_after(key + 1, "moves"), *stop = list + 1, *made_end = stop;
    for (const char *made = first(list); made; made = *made_end == ',' ? made_end + 1 : NULL) {
        made_end = after_value(made);
        if (is_text(made, "win")) {
            is_declared = true;
            continue;
        }
        plies[count++] = read_move(made);
        stop = made_end;
    }
    keep(&moves_text, list + 1, stop, count);
    return made_end + 2;
}

/* Answers. */

static void put_view(void) {
    put("{\"sfen\":\"");
    put_sfen();
    put("\",\"start\":\"%s\",\"in_check\":%s,\"repetitions\":%d,\"moves\":[", start_sfen, checks[count] ? "true" : "false", repetitions());
    put_moves();
    put("]}");
}

static void put_position(void) {
    int winner;
    const char *reason = over(&winner);
    put("{\"state\":");
    put_state();
    put(",\"turns_left\":%d,\"turn\":", most_plies - count);
    if (reason) {
        put("{\"over\":{\"ranks\":[%d,%d],\"reason\":\"%s\"}}}", 1 + (winner == 1), 1 + (winner == 0), reason);
        return;
    }
    put("{\"decide\":[{\"seat\":%d,\"legal\":[", to_move);
    for (int index = 0; index < legal_count; index++) {
        put(index ? ",\"" : "\"");
        put_move(legal[index]);
        put("\"");
    }
    if (may_declare()) put(legal_count ? ",\"win\"" : "\"win\"");
    put("],\"view\":");
    put_view();
    put("}]}}");
}

static void put_hand(int seat) {
    bool is_empty = true;
    for (int type = ROOK; type >= PAWN; type--) {
        if (!hands[seat][type]) continue;
        put(is_empty ? "%s" : " %s", (char[]){LETTERS[type], 0});
        is_empty = false;
        if (hands[seat][type] > 1) put_number(hands[seat][type]);
    }
    if (is_empty) put("nothing");
}

static void put_board(void) {
    put("\"text\":\" ");
    for (int file = SIZE; file; file--) put(" %d ", file);
    for (int row = 0; row < SIZE; row++) {
        put("\\n ");
        for (int column = 0; column < SIZE; column++) {
            int piece = board[square(column, row)];
            if (!(piece & PROMOTED && (piece & TYPE) != KING)) put(" ");
            if (piece) put_piece(piece);
            else put(".");
            put(" ");
        }
        put("%s", (char[]){(char)('a' + row), 0});
    }
    put("\\nblack (capital letters) holds ");
    put_hand(0);
    put("\\nwhite (small letters) holds ");
    put_hand(1);
    put("\\n\"");
}

/* Units of a scene: of a square, and where the board begins. */
enum { STEP = 40, LEFT = 70, TOP = 24 };

static void put_text_shape(const char *id, int index, int x, int y, const char *text) {
    put(",{\"id\":\"%s%d\",\"layer\":\"label\",\"at\":[%d,%d],\"parts\":[{\"form\":\"text\",\"at\":[0,0],\"size\":13,\"text\":\"%s\"}]}",
        id, index, x, y, text);
}

static void put_piece_shape(int piece, int x, int y) {
    int type = piece & TYPE;
    put("\",\"kind\":\"%s\",\"at\":[%d,%d],\"turn\":%d,\"parts\":[", CSA[type], x, y, piece & WHITE ? 180 : 0);
    put("{\"form\":\"polygon\",\"points\":[[0,-18],[12,-13],[15,16],[-15,16],[-12,-13]],\"fill\":\"light\",\"outline\":{\"colour\":\"ink\",\"width\":1}}");
    put(",{\"form\":\"text\",\"at\":[0,1],\"size\":19,\"text\":\"%s\",\"fill\":\"%s\"}]}", type == KING && piece & WHITE ? "王" : SIGNS[type],
        piece & PROMOTED && type != KING ? "red" : "ink");
}

/* What a person clicks for a move: two squares, or a piece in hand and a square. */
static void put_places(void) {
    for (int index = 0; index < legal_count; index++) {
        move made = legal[index];
        put(index ? ",\"" : "\"");
        put_move(made);
        put(made.from ? "\":[\"square " : "\":[\"hand-%s-%s", to_move ? "white" : "black", CSA[(int)made.type]);
        if (made.from) put_square(made.from);
        put("\",\"square ");
        put_square(made.to);
        put("\"]");
    }
}

static void put_words(int winner, const char *reason) {
    static const char *const NAMES[] = {"black", "white"};
    if (reason && winner >= 0) put("\"%s wins: %s\"", NAMES[winner], is_equal(reason, "perpetual_check") ? "perpetual check" : is_equal(reason, "no_moves") ? "no moves" : reason);
    else if (reason) put("\"draw: %s\"", is_equal(reason, "turn_limit") ? "turn limit" : reason);
    else put("\"%s to move%s\"", NAMES[to_move], checks[count] ? ", in check" : "");
    for (int seat = 0; seat < 2; seat++) {
        put(",\"%s holds ", NAMES[seat]);
        put_hand(seat);
        put("\"");
    }
}

static void put_scene(void) {
    int side = STEP * SIZE, winner;
    put("\"scene\":{\"width\":%d,\"height\":%d,\"seats\":[\"ink\",\"faint\"],\"shapes\":[", side + 2 * LEFT, TOP + side + 6);
    put("{\"id\":\"board\",\"layer\":\"board\",\"at\":[%d,%d],\"parts\":[{\"form\":\"rect\",\"at\":[0,0],\"width\":%d,\"height\":%d,\"fill\":\"special\"}", LEFT, TOP, side, side);
    for (int line = 0; line <= SIZE; line++) {
        put(",{\"form\":\"rect\",\"at\":[%d,0],\"width\":1,\"height\":%d,\"fill\":\"ink\"}", STEP * line, side);
        put(",{\"form\":\"rect\",\"at\":[0,%d],\"width\":%d,\"height\":1,\"fill\":\"ink\"}", STEP * line, side);
    }
    put("]}");
    for (int index = 0; index < SIZE; index++) {
        put_text_shape("file", SIZE - index, LEFT + STEP * index + STEP / 2, TOP - 10, (char[]){(char)('9' - index), 0});
        put_text_shape("rank", index + 1, LEFT + side + 9, TOP + STEP * index + STEP / 2, (char[]){(char)('a' + index), 0});
    }
    for (int at = square(0, 0); at <= square(SIZE - 1, SIZE - 1); at++) {
        if (board[at] & RIM) continue;
        int x = LEFT + STEP * column_of(at), y = TOP + STEP * row_of(at);
        put(",{\"id\":\"square ");
        put_square(at);
        put("\",\"layer\":\"board\",\"at\":[%d,%d],\"parts\":[{\"form\":\"rect\",\"at\":[0,0],\"width\":%d,\"height\":%d}]}", x, y, STEP, STEP);
        if (!board[at]) continue;
        put(",{\"id\":\"");
        put_square(at);
        put_piece_shape(board[at], x + STEP / 2, y + STEP / 2);
    }
    for (int seat = 0; seat < 2; seat++) {
        int x = seat ? 22 : LEFT + side + 38, place = 0;
        for (int type = ROOK; type >= PAWN; type--) {
            int amount = hands[seat][type];
            if (!amount) continue;
            int y = seat ? TOP + 20 + 44 * place : TOP + side - 20 - 44 * place;
            put(",{\"id\":\"hand-%s-%s", seat ? "white" : "black", CSA[type]);
            put_piece_shape(colour_of(seat) | type, x, y);
            char text[] = {(char)(amount > 9 ? '1' : '0' + amount), amount > 9 ? (char)('0' + amount % 10) : 0, 0};
            if (amount > 1) put_text_shape(seat ? "white" : "black", type, x + 24, y, text);
            place++;
        }
    }
    put("],\"words\":[");
    const char *reason = over(&winner);
    put_words(winner, reason);
    put("],\"places\":{");
    if (!reason) put_places();
    put("}}");
}

/* CSA, version 2.2. */

static void put_csa_square(int at) {
    if (at) put("%d%d", SIZE - column_of(at), row_of(at) + 1);
    else put("00");
}

static void put_csa_position(void) {
    for (int row = 0; row < SIZE; row++) {
        put("P%d", row + 1);
        for (int column = 0; column < SIZE; column++) {
            int piece = board[square(column, row)];
            if (piece) put("%s%s", piece & WHITE ? "-" : "+", CSA[piece & TYPE]);
            else put(" * ");
        }
        put("\\n");
    }
    for (int seat = 0; seat < 2; seat++) {
        for (int type = PAWN; type < KING; type++) {
            for (int piece = 0; piece < hands[seat][type]; piece++) put("P%s00%s\\n", seat ? "-" : "+", CSA[type]);
        }
    }
}

/* Adds a line with the value of a text. */
static void put_line(const char *name, const char *value) {
    char text[1024];
    copy_text(value, text, sizeof text);
    put("%s", name);
    for (const char *at = text; *at; at++) put_escaped(*at);
    put("\\n");
}

static const char *csa_end(const char *ended) {
    static const char *const ENDS[][2] = {
        {"rules (checkmate)", "%TSUMI"},         {"rules (no_moves)", "%TSUMI"},
        {"rules (repetition)", "%SENNICHITE"},   {"rules (declaration)", "%KACHI"},
        {"resignation (resignation)", "%TORYO"}, {"fault (timeout)", "%TIME_UP"},
        {"fault (illegal_move)", "%ILLEGAL_MOVE"},
    };
    for (size_t index = 0; index < sizeof ENDS / sizeof *ENDS; index++) {
        if (is_equal(ended, ENDS[index][0])) return ENDS[index][1];
    }
    if (is_equal(ended, "rules (perpetual_check)")) return perpetual() ? "%-ILLEGAL_ACTION" : "%+ILLEGAL_ACTION";
    bool is_fault = ended[0] == 'f', is_aborted = ended[0] == 'a' && ended[1] == 'b';
    return is_fault ? "%ERROR" : is_aborted ? "%CHUDAN" : "%HIKIWAKE";
}

static void put_export(const char *request) {
    const char *names = first(field(request, "names")), *tags = field(request, "tags");
    start(field(request, "options"));
    put("{\"text\":\"V2.2\\n");
    put_line("N+", names);
    put_line("N-", next(names));
    if (find(tags, "event")) put_line("$EVENT:", field(tags, "event"));
    if (find(tags, "site")) put_line("$SITE:", field(tags, "site"));
    if (find(tags, "date")) {
        put("$START_TIME:");
        for (const char *at = field(tags, "date") + 1; *at != '"'; at++) put_char(*at == '.' ? '/' : *at);
        put("\\n");
    }
    put_csa_position();
    put(to_move ? "-\\n" : "+\\n");
    for (const char *made = first(field(request, "moves")); made; made = next(made)) {
        const char *text = field(made, "move"), *took = find(made, "took_us");
        if (is_text(text, "win")) break;
        move ply = read_move(text);
        put(to_move ? "-" : "+");
        play(ply);
        put_csa_square(ply.from);
        put_csa_square(ply.to);
        put("%s\\n", CSA[board[ply.to] & TYPE]);
        if (took) put("T%d\\n", (int)(whole(took) / 1000000));
    }
    char ended[64];
    copy_text(field(request, "ended"), ended, sizeof ended);
    put("%s\\n/\\n\"}", csa_end(ended));
}

/* Plays the moves of a view. Returns whether they are legal, and the match goes on. */
static bool plays_all(const char *moves) {
    int winner;
    for (const char *made = first(moves); made; made = next(made)) {
        if (is_text(made, "win") || over(&winner)) return false;
        move ply = read_move(made);
        bool is_legal = false;
        for (int index = 0; index < legal_count; index++) {
            move other = legal[index];
            is_legal |= other.from == ply.from && other.to == ply.to && other.type == ply.type && other.promotes == ply.promotes;
        }
        if (!is_legal) return false;
        play(ply);
    }
    return !over(&winner);
}

static void answer(const char *request) {
    const char *type = field(request, "type");
    count = 0;
    is_declared = false;
    moves_text = keys_text = (kept_text){0};
    if (is_text(type, "export")) {
        put_export(request);
    } else if (is_text(type, "start") || is_text(type, "imagine")) {
        const char *bad = start(field(request, "options"));
        if (bad) put("{\"bad_options\":\"%s\"}", bad);
        else if (is_text(type, "imagine") && !plays_all(field(field(request, "view"), "moves"))) {
            put("{\"bad_view\":\"moves: expected legal ones, after which the match goes on\"}");
        } else put_position();
    } else {
        const char *state_end = read_state(field(request, "state"));
        if (is_text(type, "play")) {
            const char *made = field(first(field_after(state_end, "moves")), "move");
            if (is_text(made, "win")) is_declared = true;
            else play(read_move(made));
            put_position();
        } else {
            put("{\"view\":");
            put_view();
            put(",");
            put_board();
            put(",");
            put_scene();
            put("}");
        }
    }
}
