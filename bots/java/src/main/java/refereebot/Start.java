package refereebot;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * A match begins, and the bot has {@code seat} in it.
 *
 * @param rules the version of the game's rules
 * @param clock null: there is no limit
 * @param deal null in a mirrored set
 * @param commitment the SHA-256 that binds the referee to its seed
 * @param nonce whether a nonce is mixed into the chance of the match
 * @param unlisted whether the legal moves have no list, or it is hidden: turns may come without them
 */
public record Start(
        String match,
        String game,
        int rules,
        JsonObject options,
        int seat,
        List<SeatInfo> seats,
        Clock clock,
        String deal,
        String commitment,
        boolean nonce,
        boolean unlisted) {

    /** A seat: the display name and the number of its side. */
    public record SeatInfo(String name, int team) {}
}
