package refereebot;

/** What a bot may answer to a turn. */
public sealed interface Reply {
    /** A plain move. */
    static Move move(String move) {
        return new Move(move, false, null);
    }

    /**
     * A move with optional fields.
     *
     * @param offerDraw offers a draw, in games that know draws by agreement
     * @param info what the bot thought, for the record: null, or what Gson makes an object of, at most 4 KiB
     */
    record Move(String move, boolean offerDraw, Object info) implements Reply {}

    /** Resigns the match. */
    record Resign() implements Reply {}

    /** Accepts the draw offer. */
    record AcceptDraw() implements Reply {}
}
