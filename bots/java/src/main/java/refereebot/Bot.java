package refereebot;

import com.google.gson.JsonObject;

/**
 * A bot. Only {@link #choose} must be written, so a lambda is one.
 *
 * <p>All methods are called from one thread. With more than one slot a bot plays concurrent matches, which
 * {@code match} identifies. An exception ends the bot, and the referee counts a fault.
 */
@FunctionalInterface
public interface Bot {
    /** Decides on a turn. */
    Reply choose(Turn turn);

    /**
     * Prepares for a match. The referee waits until it returns.
     *
     * @return a nonce, lower-case hex of at most 64 bytes, or null. It counts only where {@link Start#nonce} is true.
     */
    default String start(Start start) {
        return null;
    }

    /** Something happened in a match; {@code kind} in the event says what. */
    default void event(String match, int seat, JsonObject event) {}

    /** A match is over. */
    default void end(End end) {}
}
