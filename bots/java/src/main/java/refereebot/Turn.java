package refereebot;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * A request for a decision. It is self-contained, so a bot can be stateless.
 *
 * @param turn the request's id
 * @param view what the seat may see, see {@link #view(Class)}; null when {@code wants} left it out
 * @param legal every legal move, sorted; empty when {@code wants} left it out
 * @param clock null: there is no limit
 * @param banksMs the banks of all seats, in milliseconds, null for a seat without a clock; null: no seat has one
 * @param turnsLeft null: there is no limit
 * @param drawOffered {@link Reply.AcceptDraw} is an answer too
 * @param retry why the answer before was refused; else null
 * @param start how this match began
 * @param events what happened in this match since its previous turn
 */
public record Turn(
        String match,
        int seat,
        long turn,
        JsonObject view,
        List<String> legal,
        TimeLeft clock,
        List<Long> banksMs,
        Integer turnsLeft,
        boolean drawOffered,
        Retry retry,
        Start start,
        List<JsonObject> events) {

    /** The bank, and the total time for this answer. Milliseconds. */
    public record TimeLeft(long bankMs, long limitMs) {}

    /** Why the answer to the request {@code of} was refused. */
    public record Retry(long of, String code, String message) {}

    /** The view as a value, such as a {@link refereebot.games.Saxum.View}. */
    public <V> V view(Class<V> type) {
        return Json.GSON.fromJson(view, type);
    }
}
