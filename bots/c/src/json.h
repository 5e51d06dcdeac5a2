/* Fields of objects, with a default where they are absent or of another type. */
#ifndef REFEREEBOT_JSON_H
#define REFEREEBOT_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

static inline const cJSON *field(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static inline const char *text_of(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(field(object, name)); /* NULL if there is none */
}

static inline int64_t number_of(const cJSON *object, const char *name, int64_t otherwise) {
    const cJSON *number = field(object, name);
    return cJSON_IsNumber(number) ? (int64_t)number->valuedouble : otherwise;
}

static inline bool is_true(const cJSON *object, const char *name) { return cJSON_IsTrue(field(object, name)); }

#endif
