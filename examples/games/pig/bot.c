/* Plays Pig: collects 20 points, or as many as it needs to win, then stops. */

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(const cJSON *object, const char *name) {
    return (int)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static const char *choose(const cJSON *turn) {
    const cJSON *view = cJSON_GetObjectItemCaseSensitive(turn, "view");
    const cJSON *scores = cJSON_GetObjectItemCaseSensitive(view, "scores");
    int points = number(view, "points");
    int score = cJSON_GetArrayItem(scores, number(turn, "seat"))->valueint;
    return points >= 20 || score + points >= number(view, "goal") ? "stop" : "roll";
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        cJSON *message = cJSON_Parse(line);
        const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "type"));
        const char *match = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "match"));
        int seat = number(message, "seat");
        if (strcmp(type, "hello") == 0) {
            printf("{\"type\":\"hello\",\"protocol\":1,\"name\":\"twenty\",\"games\":[\"pig\"]}\n");
        } else if (strcmp(type, "start") == 0) {
            printf("{\"type\":\"ready\",\"match\":\"%s\",\"seat\":%d}\n", match, seat);
        } else if (strcmp(type, "turn") == 0) {
            printf("{\"type\":\"move\",\"match\":\"%s\",\"seat\":%d,\"turn\":%d,\"move\":\"%s\"}\n", match, seat,
                   number(message, "turn"), choose(message));
        }
        fflush(stdout);
        cJSON_Delete(message);
    }
    free(line);
    return 0;
}
