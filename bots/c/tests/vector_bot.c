/* Does what bots/vectors/README.md says. */

#include <refereebot.h>
#include <string.h>

static const char *start(void *ended, const referee_start *start) {
    (void)ended;
    return start->nonce ? "00ff" : NULL;
}

static referee_reply choose(void *ended, const referee_turn *turn) {
    if (turn->draw_offered) return (referee_reply){.kind = REFEREE_ACCEPT_DRAW};
    if (turn->is_retry) return (referee_reply){.kind = REFEREE_RESIGN};
    const cJSON *unable = cJSON_GetObjectItem(turn->view, "unable");
    if (unable) {
        const char *because = cJSON_GetStringValue(cJSON_GetObjectItem(unable, "because"));
        return (referee_reply){
            .kind = REFEREE_UNABLE,
            .because = strcmp(because, "unavailable") == 0 ? REFEREE_UNAVAILABLE : REFEREE_NO_LEGAL_MOVE,
            .info = cJSON_Duplicate(cJSON_GetObjectItem(unable, "info"), true),
        };
    }
    referee_reply reply = referee_move(turn->start->unlisted ? "unlisted" : turn->legal[0]);
    reply.offer_draw = turn->turns_left == 1;
    reply.info = cJSON_CreateObject();
    cJSON_AddStringToObject(reply.info, "game", turn->start->game);
    cJSON_AddNumberToObject(reply.info, "events", cJSON_GetArraySize(turn->events));
    if (turn->has_clock) cJSON_AddNumberToObject(reply.info, "limit_ms", (double)turn->limit_ms);
    else cJSON_AddNullToObject(reply.info, "limit_ms");
    cJSON_AddItemToObject(reply.info, "ended", cJSON_Duplicate(ended, true));
    int seats = turn->start->seat_count;
    cJSON *banks = cJSON_CreateArray();
    bool has_bank = false;
    for (int seat = 0; seat < seats; seat++) {
        int64_t bank = turn->banks_ms[seat];
        has_bank |= bank >= 0;
        cJSON_AddItemToArray(banks, bank >= 0 ? cJSON_CreateNumber((double)bank) : cJSON_CreateNull());
    }
    if (has_bank) cJSON_AddItemToObject(reply.info, "banks_ms", banks);
    else cJSON_Delete(banks);
    return reply;
}

static void end(void *ended, const referee_end *end) {
    cJSON_AddItemToArray(ended, cJSON_CreateString(end->ended_by));
}

int main(int argc, char **argv) {
    cJSON *ended = cJSON_CreateArray();
    cJSON *details = cJSON_CreateObject();
    cJSON_AddStringToObject(details, "kind", "test");
    referee_bot bot = {.name = "vector", .version = "1.0", .details = details, .slots = 64, .data = ended, .start = start, .choose = choose, .end = end};
    int status = referee_run(&bot, argc, argv);
    cJSON_Delete(ended);
    cJSON_Delete(details);
    return status;
}
