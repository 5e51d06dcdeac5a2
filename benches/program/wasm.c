/* The game of the bench `program` as a WebAssembly module: `clang --target=wasm32 -nostdlib -O2 -Wl,--no-entry`. An instance gets
   one request, so that its memory is a few buffers. */

typedef unsigned long size_t;

static char request[4096], answer[1024], *end;

/* What a compiler may call. */
void *memcpy(void *to, const void *from, size_t count) {
    for (size_t at = 0; at < count; at++) ((char *)to)[at] = ((const char *)from)[at];
    return to;
}

static const char *after(const char *text, const char *what) {
    for (; *text; text++) {
        const char *at = text, *expected = what;
        while (*expected && *at == *expected) at++, expected++;
        if (!*expected) return at;
    }
    __builtin_trap();
}

static unsigned long read(const char **at) {
    unsigned long number = 0;
    while (**at >= '0' && **at <= '9') number = 10 * number + (*(*at)++ - '0');
    return number;
}

static void put(const char *text) {
    while (*text) *end++ = *text++;
}

static void put_number(unsigned long number) {
    char digits[10];
    int count = 0;
    do digits[count++] = '0' + number % 10;
    while (number /= 10);
    while (count) *end++ = digits[--count];
}

/* Where the answer is, and its length. */
static unsigned long long written(void) {
    return (unsigned long long)(size_t)answer << 32 | (end - answer);
}

__attribute__((export_name("alloc"))) char *alloc(size_t length) {
    if (length >= sizeof request) __builtin_trap();
    return request;
}

__attribute__((export_name("handle"))) unsigned long long handle(char *at, size_t length) {
    end = answer;
    at[length] = 0;
    const char *type = after(at, "\"type\":\"");
    if (type[0] == 's' && type[1] == 't') {
        put("{\"state\":[0,0],\"turn\":{\"draw\":{\"pick\":4294967295}}}");
        return written();
    }
    /* A state is [salt,moves]. */
    const char *state = after(at, "\"state\":[");
    unsigned long salt = read(&state);
    state++;
    unsigned long moves = read(&state);
    if (type[0] == 's' && type[1] == 'e') {
        const char *drawn = after(at, "\"drawn\":[");
        salt = read(&drawn);
    }
    if (type[0] == 'p') moves++;
    if (type[0] == 's' && type[1] == 'h') {
        put("{\"view\":{\"moves\":");
        put_number(moves);
        put("}}");
        return written();
    }
    put("{\"state\":[");
    put_number(salt);
    put(",");
    put_number(moves);
    put("],\"turn\":");
    if (moves == 60) {
        put("{\"over\":{\"ranks\":[1,1],\"reason\":\"length\"}}}");
    } else {
        put("{\"decide\":[{\"seat\":");
        put_number(moves % 2);
        put(",\"legal\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"],\"view\":{\"moves\":");
        put_number(moves);
        put("}}]}}");
    }
    return written();
}
