/* Compares every turn with the position that `referee imagine` has, then plays the best of its playouts. Run by
 * tests/cli/imagine.rs. */

#include <refereebot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "imagine_bot: %s\n", what);
    exit(1);
}

static referee_reply choose(void *data, const referee_turn *turn) {
    referee_imaginer *imaginer = data;
    int position = referee_imagine(imaginer, turn, 4, turn->turn);
    check(position >= 0, referee_imaginer_error(imaginer));
    referee_state state;
    check(referee_explore(imaginer, position, NULL, 0, 0, turn->seat, 0, &state), referee_imaginer_error(imaginer));
    const cJSON *legal = state.legal[turn->seat];
    check(cJSON_GetArraySize(legal) == turn->legal_count, "the number of legal moves");
    for (int i = 0; i < turn->legal_count; i++) {
        check(strcmp(cJSON_GetStringValue(cJSON_GetArrayItem(legal, i)), turn->legal[i]) == 0, "a legal move");
    }
    check(cJSON_Compare(state.view, turn->view, true), "the view");
    check(state.turns_left == turn->turns_left && !state.is_over, "the turns left");
    referee_state_clear(&state);
    referee_seat_move wrong = {turn->seat, "?"};
    check(!referee_explore(imaginer, position, &wrong, 1, 0, -1, 0, &state), "an illegal move is accepted");
    check(strncmp(referee_imaginer_error(imaginer), "illegal_move: move 1: `?`", 25) == 0, "the error of an illegal move");
    int best = 0;
    double highest = -1;
    for (int i = 0; i < turn->legal_count; i++) {
        referee_seat_move move = {turn->seat, turn->legal[i]};
        double scores[REFEREE_SEATS];
        check(referee_playouts(imaginer, position, &move, 1, 3, 0, scores), referee_imaginer_error(imaginer));
        if (scores[turn->seat] > highest) {
            highest = scores[turn->seat];
            best = i;
        }
    }
    return referee_move(turn->legal[best]);
}

int main(int argc, char **argv) {
    check(!referee_imaginer_start("/no/such/referee", NULL), "a missing program starts");
    const char *const games[] = {getenv("IMAGINE_GAME"), NULL};
    referee_imaginer *imaginer = referee_imaginer_start(NULL, games);
    if (!imaginer) return 1;
    static const char *const wants[] = {"view", "legal", NULL};
    referee_bot bot = {.name = "imagine", .wants = wants, .data = imaginer, .choose = choose};
    return referee_run(&bot, argc, argv);
}
