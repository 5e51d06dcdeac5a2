package refereebot;

import com.google.gson.annotations.SerializedName;

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

    /**
     * Says that the bot has no move.
     *
     * @param info as in {@link Move}
     */
    record Unable(Inability because, Object info) implements Reply {}

    /** Why a bot has no move. */
    enum Inability {
        /** What chooses its moves named none that is legal: a fault. */
        @SerializedName("no_legal_move")
        NO_LEGAL_MOVE,
        /**
         * What chooses its moves cannot be reached: an outage. The match is void where the organiser trusts bots; elsewhere it is
         * a fault.
         */
        @SerializedName("unavailable")
        UNAVAILABLE
    }
}
