/* The rules of Go: see rules.md. */

#include "../rules.h"

enum {
    MOST_SIZE = 19,
    /* A point is a number; neighbours are known by it, since points of the rim surround the board. */
    ROW = MOST_SIZE + 1,
    POINTS = ROW * (MOST_SIZE + 2) + 1,
    MOST_MOVES = 2000,
    PASS = 0,
    TABLE = 4096,
};

enum { RIM, EMPTY, BLACK, WHITE };

/* Of the text of an empty, black and white point. */
static const char SYMBOLS[] = "#.XO";
static const char COLUMNS[] = "ABCDEFGHJKLMNOPQRST";
static const int AROUND[4] = {-ROW, -1, 1, ROW};

/* A position. */
static int size, handicap, most_moves;
static long komi; /* in half points */
static unsigned char board[POINTS];
static short moves[MOST_MOVES];
static int count;
/* The keys of all positions so far, that of the board last. */
static uint64_t keys[MOST_MOVES + 1];
static int positions;
/* The moves and keys that a text has already: most are copied. */
static kept_text moves_text, keys_text;

/* Chains of the board, known by one of their stones. */
static short chain[POINTS], liberties[POINTS];
static uint64_t chain_key[POINTS];

static int point(int column, int row) {
    return (row + 1) * ROW + column + 1;
}

static int column_of(int at) {
    return at % ROW - 1;
}

static int row_of(int at) {
    return at / ROW - 1;
}

static int other(int colour) {
    return BLACK + WHITE - colour;
}

/* With a handicap White begins. */
static int to_move(void) {
    return (count + (handicap > 0)) % 2 ? WHITE : BLACK;
}

/* The number of a stone in keys (Steele's splitmix). */
static uint64_t stone(int at, int colour) {
    uint64_t z = (uint64_t)(2 * at + colour) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) & ((1ull << 5 * KEY) - 1);
}

/* Vertices, as GTP writes them. */

static void put_vertex(int at) {
    if (at == PASS) {
        put("pass");
    } else {
        put_char(COLUMNS[column_of(at)]);
        put_number(row_of(at) + 1);
    }
}

static int read_vertex(const char *value) {
    if (is_text(value, "pass")) return PASS;
    int column = value[1] - 'A' - (value[1] > 'I');
    long row = whole(value + 2) - 1;
    if (column < 0 || column >= size || row < 0 || row >= size) fail("a move is beyond the board");
    return point(column, (int)row);
}

/* Boards. */

static void clear(void) {
    memset(board, RIM, sizeof board);
    for (int row = 0; row < size; row++) memset(board + point(0, row), EMPTY, (size_t)size);
}

/* Finds the chain of a stone and its liberties. */
static void find_chain(int from) {
    static short stack[POINTS];
    static int seen[POINTS], search;
    int colour = board[from], stones = 0, free = 0;
    uint64_t key = 0;
    search++;
    stack[stones++] = (short)from;
    chain[from] = (short)from;
    for (int next = 0; next < stones; next++) {
        int at = stack[next];
        key ^= stone(at, colour);
        for (int to = 0; to < 4; to++) {
            int near = at + AROUND[to];
            if (board[near] == EMPTY && seen[near] != search) {
                seen[near] = search;
                free++;
            } else if (board[near] == colour && chain[near] != from) {
                chain[near] = (short)from;
                stack[stones++] = (short)near;
            }
        }
    }
    liberties[from] = (short)free;
    chain_key[from] = key;
}

static void find_chains(void) {
    memset(chain, 0, sizeof chain);
    for (int at = 0; at < POINTS; at++) {
        if (board[at] > EMPTY && !chain[at]) find_chain(at);
    }
}

/* The key after a stone; the stone has a liberty afterwards, or the key is that of no position. */
static uint64_t key_after(int at, int colour) {
    uint64_t key = keys[positions - 1] ^ stone(at, colour);
    int captured[4], captures = 0;
    bool lives = false;
    for (int to = 0; to < 4; to++) {
        int near = at + AROUND[to], of = chain[near];
        if (board[near] == EMPTY) lives = true;
        if (board[near] == colour && liberties[of] > 1) lives = true;
        if (board[near] != other(colour) || liberties[of] > 1) continue;
        bool is_known = false;
        for (int known = 0; known < captures; known++) is_known |= captured[known] == of;
        if (is_known) continue;
        captured[captures++] = of;
        key ^= chain_key[of];
        lives = true;
    }
    return lives ? key : UINT64_MAX;
}

/* Puts a stone and takes what it captures. */
static void put_stone(int at, int colour) {
    board[at] = (unsigned char)colour;
    for (int to = 0; to < 4; to++) {
        int near = at + AROUND[to];
        if (board[near] != other(colour)) continue;
        memset(chain, 0, sizeof chain);
        find_chain(near);
        if (liberties[near]) continue;
        for (int taken = 0; taken < POINTS; taken++) {
            if (chain[taken] == near) board[taken] = EMPTY;
        }
    }
}

/* A table of the positions so far: one more than their indices, by their keys. */
static short table[TABLE];
static int filled;

/* Whether a position was there before. */
static bool is_repeated(uint64_t key) {
    for (; filled < positions; filled++) {
        size_t at = keys[filled] % TABLE;
        while (table[at]) at = (at + 1) % TABLE;
        table[at] = (short)(filled + 1);
    }
    for (size_t at = key % TABLE; table[at]; at = (at + 1) % TABLE) {
        if (keys[table[at] - 1] == key) return true;
    }
    return false;
}

static bool is_legal(int at, int colour) {
    if (board[at] != EMPTY) return false;
    uint64_t key = key_after(at, colour);
    return key != UINT64_MAX && !is_repeated(key);
}

static const char *reason(void) {
    if (count >= 2 && moves[count - 1] == PASS && moves[count - 2] == PASS) return "two_passes";
    return count == most_moves ? "move_limit" : NULL;
}

/* Plays a move. Returns whether it is legal. */
static bool play(int at) {
    if (reason()) return false;
    if (at != PASS) {
        int colour = to_move();
        find_chains();
        if (!is_legal(at, colour)) return false;
        keys[positions] = key_after(at, colour);
        positions++;
        put_stone(at, colour);
    }
    moves[count++] = (short)at;
    return true;
}

/* Points of Black without those of White: stones, and empty points from which only stones of one colour are reached. */
static int area(void) {
    static short stack[POINTS];
    static bool seen[POINTS];
    int points = 0;
    memset(seen, 0, sizeof seen);
    for (int from = 0; from < POINTS; from++) {
        if (board[from] > EMPTY) points += board[from] == BLACK ? 1 : -1;
        if (board[from] != EMPTY || seen[from]) continue;
        int length = 0;
        bool reaches[WHITE + 1] = {false};
        seen[from] = true;
        stack[length++] = (short)from;
        for (int next = 0; next < length; next++) {
            for (int to = 0; to < 4; to++) {
                int near = stack[next] + AROUND[to];
                reaches[board[near]] = true;
                if (board[near] != EMPTY || seen[near]) continue;
                seen[near] = true;
                stack[length++] = (short)near;
            }
        }
        if (reaches[BLACK] != reaches[WHITE]) points += reaches[BLACK] ? length : -length;
    }
    return points;
}

/* Half points of Black without those of White. */
static long margin(void) {
    return 2 * area() - komi;
}

/* Options and states. */

/* Reads a number of half points; false if it is none. */
static bool read_half_points(const char *value, long *half) {
    *half = 2 * whole(value);
    const char *at = value + (*value == '-');
    while (*at >= '0' && *at <= '9') at++;
    if (*at != '.') return *at != 'e' && *at != 'E';
    if (at[1] == '5') *half += *value == '-' ? -1 : 1;
    else if (at[1] != '0') return false;
    return at[2] < '0';
}

/* Puts the stones of a handicap where GTP's `fixed_handicap` has them. */
static void put_handicap(void) {
    int edge = size < 13 ? 2 : 3, far = size - 1 - edge, middle = size / 2;
    const int at[9][2] = {
        {edge, edge}, {far, far}, {edge, far}, {far, edge}, {edge, middle},
        {far, middle}, {middle, edge}, {middle, far}, {middle, middle},
    };
    for (int index = 0; index < handicap; index++) {
        bool is_centre = handicap % 2 && index == handicap - 1 && handicap >= 5;
        const int *of = is_centre ? at[8] : at[index];
        board[point(of[0], of[1])] = BLACK;
        keys[0] ^= stone(point(of[0], of[1]), BLACK);
    }
}

/* The initial position. Returns why there is none. */
static const char *start(const char *options) {
    size = number(options, "size");
    handicap = number(options, "handicap");
    most_moves = number(options, "moves");
    if (size < 2 || size > MOST_SIZE) return "size: expected 2 to 19";
    if (!read_half_points(field(options, "komi"), &komi) || komi < -800 || komi > 800) {
        return "komi: expected points or half points from -400 to 400";
    }
    int most = size < 7 ? 0 : size % 2 == 0 || size == 7 ? 4 : 9;
    if (handicap < 0 || handicap == 1 || handicap > most) {
        return "handicap: expected 0, or 2 to 9 stones; at most 4 on boards of an even size and of 7, and none on smaller ones";
    }
    if (most_moves < 0 || most_moves > MOST_MOVES) return "moves: expected 1 to 2000, or 0 for three for each point";
    if (!most_moves) most_moves = 3 * size * size;
    clear();
    keys[0] = 0;
    positions = 1;
    put_handicap();
    return NULL;
}

static void put_moves(void) {
    const char *text = put_kept(&moves_text);
    for (int move = moves_text.count; move < count; move++) {
        put(move ? ",\"" : "\"");
        put_vertex(moves[move]);
        put("\"");
    }
    keep(&moves_text, text, end, count);
}

static void put_state(void) {
    put("{\"size\":%d,\"komi\":%d,\"handicap\":%d,\"limit\":%d,\"board\":\"", size, (int)komi, handicap, most_moves);
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) put_char(SYMBOLS[board[point(column, row)]]);
    }
    put("\",\"keys\":\"");
    put_kept(&keys_text);
    for (int at = keys_text.count; at < positions; at++) {
        put_key(keys[at]);
    }
    put("\",\"moves\":[");
    put_moves();
    put("]}");
}

/* Reads a state, which is as `put_state` wrote it, and returns its end. */
static const char *read_state(const char *state) {
    size = number(state, "size");
    komi = number(state, "komi");
    handicap = number(state, "handicap");
    most_moves = number(state, "limit");
    clear();
    const char *symbol = field(state, "board") + 1;
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++, symbol++) {
            int colour = *symbol == 'X' ? BLACK : *symbol == 'O' ? WHITE : EMPTY;
            board[point(column, row)] = (unsigned char)colour;
        }
    }
    const char *key = field(state, "keys") + 1, *first_key = key;
    for (; *key != '"'; key += KEY) keys[positions++] = read_key(key);
    keep(&keys_text, first_key, key, positions);
    const char *list = field_after(key + 1, "moves"), *stop = list + 1;
    for (const char *move = first(list); move; move = *stop == ',' ? stop + 1 : NULL) {
        moves[count++] = (short)read_vertex(move);
        stop = after_value(move);
    }
    keep(&moves_text, list + 1, stop, count);
    return stop + 2;
}

/* Answers. */

/* Half points as a decimal number. */
static void put_half_points(long half) {
    if (half < 0) put("-");
    if (half < 0) half = -half;
    put(half % 2 ? "%d.5" : "%d", (int)(half / 2));
}

static void put_view(void) {
    put("{\"size\":%d,\"komi\":", size);
    put_half_points(komi);
    put(",\"handicap\":%d,\"to_move\":\"%s\",\"board\":[", handicap, to_move() == BLACK ? "black" : "white");
    for (int row = size - 1; row >= 0; row--) {
        put("\"");
        for (int column = 0; column < size; column++) put_char(SYMBOLS[board[point(column, row)]]);
        put(row ? "\"," : "\"");
    }
    put("],\"moves\":[");
    put_moves();
    put("]}");
}

static void put_position(void) {
    put("{\"state\":");
    put_state();
    put(",\"turns_left\":%d,\"turn\":", most_moves - count);
    const char *over = reason();
    if (over) {
        long black = margin();
        put("{\"over\":{\"ranks\":[%d,%d],\"reason\":\"%s\"}}}", 1 + (black < 0), 1 + (black > 0), over);
        return;
    }
    int colour = to_move();
    put("{\"decide\":[{\"seat\":%d,\"legal\":[", colour - BLACK);
    find_chains();
    for (int at = 0; at < POINTS; at++) {
        if (!is_legal(at, colour)) continue;
        put("\"");
        put_vertex(at);
        put("\",");
    }
    put("\"pass\"],\"view\":");
    put_view();
    put("}]}}");
}

static void put_board(void) {
    put("\"text\":\"   ");
    for (int column = 0; column < size; column++) put(column ? " %s" : "%s", (char[]){COLUMNS[column], 0});
    for (int row = size - 1; row >= 0; row--) {
        put(row < 9 ? "\\n %d" : "\\n%d", row + 1);
        for (int column = 0; column < size; column++) {
            put(" ");
            put_char(SYMBOLS[board[point(column, row)]]);
        }
    }
    put("\\n\"");
}

/* Units of a scene between two lines, and from its edge to the first one. */
enum { STEP = 20, EDGE = 30 };

static int x_of(int column) {
    return EDGE + STEP * column;
}

static int y_of(int row) {
    return EDGE + STEP * (size - 1 - row);
}

static void put_label(const char *id, int x, int y, const char *text) {
    put(",{\"id\":\"%s\",\"layer\":\"label\",\"at\":[%d,%d],\"parts\":[{\"form\":\"text\",\"at\":[0,0],\"size\":10,\"text\":\"%s\",\"fill\":\"ink\"}]}",
        id, x, y, text);
}

static void put_labels(void) {
    int width = 2 * EDGE + STEP * (size - 1);
    for (int column = 0; column < size; column++) {
        const char text[] = {COLUMNS[column], 0};
        put_label(text, x_of(column), width - 10, text);
    }
    for (int row = 0; row < size; row++) {
        char text[] = {(char)('0' + (row + 1) / 10), (char)('0' + (row + 1) % 10), 0};
        put_label(text, 10, y_of(row), text + (row < 9));
    }
}

static void put_lines(void) {
    int length = STEP * (size - 1), width = 2 * EDGE + length;
    put("{\"id\":\"board\",\"layer\":\"board\",\"at\":[0,0],\"parts\":[{\"form\":\"rect\",\"at\":[0,0],\"width\":%d,\"height\":%d,\"fill\":\"special\"}",
        width, width);
    for (int line = 0; line < size; line++) {
        put(",{\"form\":\"rect\",\"at\":[%d,%d],\"width\":%d,\"height\":1,\"fill\":\"ink\"}", EDGE, y_of(line), length + 1);
        put(",{\"form\":\"rect\",\"at\":[%d,%d],\"width\":1,\"height\":%d,\"fill\":\"ink\"}", x_of(line), EDGE, length + 1);
    }
    int edge = size < 13 ? 2 : 3;
    for (int column = edge; size % 2 && size > 7 && column < size - 1; column += (size - 1) / 2 - edge) {
        for (int row = edge; row < size - 1; row += (size - 1) / 2 - edge) {
            put(",{\"form\":\"circle\",\"at\":[%d,%d],\"radius\":3,\"fill\":\"ink\"}", x_of(column), y_of(row));
        }
    }
    put("]}");
}

/* What a person clicks to put a stone. */
static void put_points(void) {
    for (int at = 0; at < POINTS; at++) {
        if (board[at] == RIM) continue;
        put(",{\"id\":\"point ");
        put_vertex(at);
        put("\",\"layer\":\"board\",\"at\":[%d,%d],\"parts\":[{\"form\":\"circle\",\"at\":[0,0],\"radius\":9}]}",
            x_of(column_of(at)), y_of(row_of(at)));
    }
}

static void put_places(void) {
    bool is_first = true;
    find_chains();
    for (int at = 0; at < POINTS; at++) {
        if (reason() || !is_legal(at, to_move())) continue;
        put(is_first ? "\"" : ",\"");
        put_vertex(at);
        put("\":[\"point ");
        put_vertex(at);
        put("\"]");
        is_first = false;
    }
}

static void put_words(void) {
    const char *over = reason();
    if (over) {
        long black = margin();
        put(black > 0 ? "\"black wins by " : black < 0 ? "\"white wins by " : "\"a draw by ");
        put_half_points(black < 0 ? -black : black);
        put(" points\"");
    } else {
        put("\"%s to move\"", to_move() == BLACK ? "black" : "white");
    }
    if (count) {
        put(",\"move %d: %s ", count, to_move() == BLACK ? "white" : "black");
        put_vertex(moves[count - 1]);
        put("\"");
    }
}

static void put_scene(void) {
    int width = 2 * EDGE + STEP * (size - 1);
    put("\"scene\":{\"width\":%d,\"height\":%d,\"seats\":[\"black\",\"white\"],\"shapes\":[", width, width);
    put_lines();
    put_points();
    put_labels();
    for (int at = 0; at < POINTS; at++) {
        if (board[at] <= EMPTY) continue;
        const char *colour = board[at] == BLACK ? "black" : "white";
        put(",{\"id\":\"");
        put_vertex(at);
        put("\",\"kind\":\"%s\",\"at\":[%d,%d],\"parts\":[{\"form\":\"circle\",\"at\":[0,0],\"radius\":9,\"fill\":\"%s\",\"outline\":{\"colour\":\"black\",\"width\":1}}]}",
            colour, x_of(column_of(at)), y_of(row_of(at)), colour);
    }
    put("],\"words\":[");
    put_words();
    put("],\"places\":{");
    put_places();
    put("}}");
}

/* SGF. */

static void put_sgf_point(int at) {
    if (at == PASS) return;
    put_char((char)('a' + column_of(at)));
    put_char((char)('a' + size - 1 - row_of(at)));
}

/* Adds a property whose value is a text, in which `]` and `\` are escaped. */
static void put_property(const char *name, const char *value) {
    char text[1024];
    copy_text(value, text, sizeof text);
    put("%s[", name);
    for (const char *at = text; *at; at++) {
        if (*at == ']' || *at == '\\') put_escaped('\\');
        put_escaped(*at);
    }
    put("]");
}

static void put_result(const char *request) {
    char ended[64];
    copy_text(field(request, "ended"), ended, sizeof ended);
    const char *ranks = find(request, "ranks");
    if (!ranks) {
        put("RE[Void]");
        return;
    }
    const char *black = first(ranks);
    long ahead = whole(next(black)) - whole(black);
    if (!ahead) {
        put("RE[Draw]");
        return;
    }
    put("RE[%s+", ahead > 0 ? "B" : "W");
    if (ended[0] == 'r' && ended[1] == 'u') {
        long half = margin();
        put_half_points(half < 0 ? -half : half);
    } else {
        bool is_late = is_equal(ended, "fault (timeout)");
        put(ended[0] == 'r' ? "R" : is_late ? "T" : "F");
    }
    put("]");
}

static void put_export(const char *request) {
    start(field(request, "options"));
    int begins = to_move();
    static const char *made[MOST_MOVES];
    for (const char *move = first(field(request, "moves")); move; move = next(move)) {
        made[count] = move;
        if (!play(read_vertex(field(move, "move")))) fail("a move is not legal");
    }
    put("{\"text\":\"(;GM[1]FF[4]CA[UTF-8]AP[referee]SZ[%d]KM[", size);
    put_half_points(komi);
    put("]RU[Chinese]");
    const char *tags = field(request, "tags"), *black = first(field(request, "names"));
    put_property("PB", black);
    put_property("PW", next(black));
    put_result(request);
    if (find(tags, "event")) put_property("EV", field(tags, "event"));
    if (find(tags, "site")) put_property("PC", field(tags, "site"));
    put_property("RO", find(tags, "round") ? field(tags, "round") : field(request, "match"));
    if (find(tags, "date")) {
        /* SGF has 2026-11-22. */
        put("DT[");
        for (const char *at = field(tags, "date") + 1; *at != '"'; at++) put_char(*at == '.' ? '-' : *at);
        put("]");
    }
    if (handicap) {
        put("HA[%d]AB", handicap);
        clear();
        put_handicap();
        for (int at = 0; at < POINTS; at++) {
            if (board[at] != BLACK) continue;
            put("[");
            put_sgf_point(at);
            put("]");
        }
    }
    for (int move = 0; move < count; move++) {
        bool is_black = (begins == BLACK) == (move % 2 == 0);
        put(move % 10 ? ";%s[" : "\\n;%s[", is_black ? "B" : "W");
        put_sgf_point(moves[move]);
        put("]");
        const char *took = find(made[move], "took_us");
        if (!took) continue;
        long ms = whole(took) / 1000;
        put("C[%d.%d%d%ds]", (int)(ms / 1000), (int)(ms / 100 % 10), (int)(ms / 10 % 10), (int)(ms % 10));
    }
    put(")\\n\"}");
}

static void answer(const char *request) {
    const char *type = field(request, "type");
    count = positions = filled = 0;
    moves_text = keys_text = (kept_text){0};
    memset(table, 0, sizeof table);
    if (is_text(type, "export")) {
        put_export(request);
        return;
    }
    if (is_text(type, "start") || is_text(type, "imagine")) {
        const char *bad = start(field(request, "options"));
        if (bad) {
            put("{\"bad_options\":\"%s\"}", bad);
            return;
        }
        if (is_text(type, "imagine")) {
            const char *view = field(request, "view");
            for (const char *move = first(field(view, "moves")); move; move = next(move)) {
                if (play(read_vertex(move))) continue;
                put("{\"bad_view\":\"moves: number %d is not legal\"}", count + 1);
                return;
            }
            if (reason()) {
                put("{\"bad_view\":\"moves: the match is over\"}");
                return;
            }
        }
        put_position();
        return;
    }
    const char *state_end = read_state(field(request, "state"));
    if (is_text(type, "play")) {
        if (!play(read_vertex(field(first(field_after(state_end, "moves")), "move")))) fail("a move is not legal");
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
