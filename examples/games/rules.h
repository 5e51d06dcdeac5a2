/* Reads requests and writes answers of the rules protocol, for games in C without a library. A game includes it and defines `answer`.

   As WebAssembly, the module exports what the referee calls. Natively, `main` answers the lines of standard input: for tests. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Answers a request. */
static void answer(const char *request);

/* The answer so far. */
static char *begin, *end, *limit;

#ifdef __wasm__

/* Why the game has trapped. */
static const char *why = "";

extern char __heap_base;
enum { PAGE = 1 << 16 };

/* What a compiler may call. */
void *memcpy(void *to, const void *from, size_t count) {
    for (size_t at = 0; at < count; at++) ((char *)to)[at] = ((const char *)from)[at];
    return to;
}

void *memset(void *to, int byte, size_t count) {
    for (size_t at = 0; at < count; at++) ((char *)to)[at] = (char)byte;
    return to;
}

/* Makes room in the memory up to an offset. */
static void reserve(char *to) {
    limit = (char *)(__builtin_wasm_memory_size(0) * PAGE);
    if (to <= limit) return;
    __builtin_wasm_memory_grow(0, (to - limit) / PAGE + 1);
    limit = (char *)(__builtin_wasm_memory_size(0) * PAGE);
}

__attribute__((export_name("alloc"))) char *alloc(size_t length) {
    reserve(&__heap_base + length + 1);
    return &__heap_base;
}

__attribute__((export_name("handle"))) uint64_t handle(char *request, size_t length) {
    request[length] = 0;
    begin = end = request + length + 1;
    answer(request);
    return (uint64_t)(size_t)begin << 32 | (size_t)(end - begin);
}

__attribute__((export_name("error"))) uint64_t error(void) {
    size_t length = 0;
    while (why[length]) length++;
    return (uint64_t)(size_t)why << 32 | length;
}

_Noreturn static void fail(const char *what) {
    why = what;
    __builtin_trap();
}

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void reserve(char *to) {
    if (to > limit) fail("the answer is too long");
}

#ifndef OTHER_MAIN
int main(void) {
    enum { MOST = 1 << 25 };
    char *request = malloc(MOST);
    begin = malloc(MOST);
    limit = begin + MOST;
    while (fgets(request, MOST, stdin)) {
        end = begin;
        answer(request);
        *end++ = '\n';
        fwrite(begin, 1, (size_t)(end - begin), stdout);
        fflush(stdout);
    }
}
#endif

#endif

/* Text. */

static bool is_equal(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

static void put_char(char byte) {
    if (end >= limit) reserve(end + 1);
    *end++ = byte;
}

/* Adds bytes as they are. */
static void put_bytes(const char *from, size_t count) {
    if (count > (size_t)(limit - end)) reserve(end + count);
    memcpy(end, from, count);
    end += count;
}

static void put_number(long number) {
    char digits[20];
    int count = 0;
    if (number < 0) put_char('-');
    unsigned long rest = number < 0 ? -(unsigned long)number : (unsigned long)number;
    do digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    while (count) put_char(digits[--count]);
}

/* Adds text, in which %s is a text and %d a number. */
static void put(const char *text, ...) {
    va_list values;
    va_start(values, text);
    for (; *text; text++) {
        if (*text != '%') {
            put_char(*text);
        } else if (*++text == 's') {
            for (const char *value = va_arg(values, const char *); *value; value++) put_char(*value);
        } else {
            put_number(va_arg(values, int));
        }
    }
    va_end(values);
}

/* The text of the first items of a list that is written more than once. */
typedef struct {
    const char *text;
    size_t length;
    int count;
} kept_text;

static void keep(kept_text *kept, const char *from, const char *to, int count) {
    *kept = (kept_text){from, (size_t)(to - from), count};
}

/* Adds a text, and returns where it begins now. */
static const char *put_kept(const kept_text *kept) {
    const char *text = end;
    if (kept->length) put_bytes(kept->text, kept->length);
    return text;
}

/* Adds a byte of a string of JSON. */
static void put_escaped(char byte) {
    if (byte == '\n') {
        put("\\n");
    } else {
        if (byte == '"' || byte == '\\') put_char('\\');
        put_char(byte);
    }
}

/* JSON. It is valid, since the referee has checked it. A value is where it begins; null if there is none. */

static const char *after_space(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    return at;
}

/* Where a value ends. */
static const char *after_value(const char *at) {
    int depth = 0;
    for (;; at++) {
        if (*at == '"') {
            for (at++; *at && *at != '"'; at++) at += *at == '\\';
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (!depth) return at;
            depth--;
        } else if (*at == ',' && !depth) {
            return at;
        }
        if (!*at) fail("the request ends too early");
    }
}

/* The first value of a list. */
static const char *first(const char *list) {
    const char *at = after_space(list + 1);
    return *at == ']' ? NULL : at;
}

/* The next value of a list. */
static const char *next(const char *value) {
    const char *at = after_value(value);
    return *at == ',' ? after_space(at + 1) : NULL;
}

/* A field of an object, of those from here on. */
static const char *find_from(const char *at, const char *name) {
    while (*at == '"') {
        const char *byte = at + 1, *expected = name;
        while (*expected && *byte == *expected) byte++, expected++;
        bool is_it = !*expected && *byte == '"';
        while (*byte != '"') byte += *byte == '\\' ? 2 : 1;
        const char *value = after_space(byte + 1);
        value = after_space(value + 1);
        if (is_it) return value;
        at = after_value(value);
        if (*at == ',') at = after_space(at + 1);
    }
    return NULL;
}

/* A field of an object. */
static const char *find(const char *object, const char *name) {
    return find_from(after_space(object + 1), name);
}

/* A field that exists. */
static const char *field(const char *object, const char *name) {
    const char *value = find(object, name);
    if (!value) fail(name);
    return value;
}

/* A field that exists after this end of another one: long values are not read again. */
static const char *field_after(const char *value_end, const char *name) {
    const char *value = *value_end == ',' ? find_from(after_space(value_end + 1), name) : NULL;
    if (!value) fail(name);
    return value;
}

static long whole(const char *value) {
    bool is_negative = *value == '-';
    if (is_negative) value++;
    long number = 0;
    for (; *value >= '0' && *value <= '9'; value++) {
        if (number < 1000000000) number = 10 * number + (*value - '0');
    }
    return is_negative ? -number : number;
}

static int number(const char *object, const char *name) {
    return (int)whole(field(object, name));
}

/* Copies a text without its quotes and escapes, at most `size` bytes with the zero at its end. Characters that are not in it as they
   are become `?`. */
static void copy_text(const char *value, char *to, size_t size) {
    size_t length = 0;
    for (value++; *value != '"'; value++) {
        char byte = *value;
        if (byte == '\\') {
            byte = *++value;
            if (byte == 'n' || byte == 't' || byte == 'r' || byte == 'b' || byte == 'f') byte = ' ';
            if (byte == 'u') byte = '?', value += 4;
        }
        if (length + 1 < size) to[length++] = byte;
    }
    to[length] = 0;
}

static bool is_text(const char *value, const char *text) {
    for (value++; *text && *value == *text; value++) text++;
    return !*text && *value == '"';
}

/* Keys of positions: 60 bits, 5 in each of twelve characters from `0` on. A state has one for each position so far. */

enum { KEY = 12 };

static void put_key(uint64_t key) {
    for (int part = 0; part < KEY; part++) put_char((char)('0' + (key >> 5 * part & 31)));
}

/* The 40 bits of eight characters, which are read as one number: the first one is its lowest byte. */
static uint64_t key_part(const char *text) {
    uint64_t bits;
    memcpy(&bits, text, sizeof bits);
    bits -= 0x3030303030303030;
    bits = (bits & 0x001f001f001f001f) | (bits >> 3 & 0x03e003e003e003e0);
    bits = (bits & 0x000003ff000003ff) | (bits >> 6 & 0x000ffc00000ffc00);
    return (bits & 0xfffff) | (bits >> 12 & 0xfffff00000);
}

static uint64_t read_key(const char *text) {
    return key_part(text) | key_part(text + 4) << 20;
}
