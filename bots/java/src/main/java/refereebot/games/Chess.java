package refereebot.games;

import java.util.List;

/** Chess: squares are a1 to h8, seat 0 is White. */
public final class Chess {
    private Chess() {}

    /**
     * The position.
     *
     * @param board a letter for each square from a8 to h8, then a7 to h7, to h1: those of FEN, . empty
     * @param checks the squares of the pieces that give check
     * @param occurrences how often the position has occurred, including now
     * @param since what led here since the last capture, move of a pawn or loss of a castling right
     */
    public record View(
            List<Integer> toMove, String board, String fen, List<String> checks, int occurrences, Line since) {}

    /** A position and the moves that follow it. */
    public record Line(String fen, List<String> moves) {}

    /** A move; {@link #toString} is its text. */
    public sealed interface AnyMove {
        String start();

        String target();
    }

    /** Also castling: the king's move, in Chess960 to the square of its rook. */
    public record Move(String start, String target) implements AnyMove {
        @Override
        public String toString() {
            return start + target;
        }
    }

    /** A pawn becomes a piece: q, r, b or n. */
    public record Promote(String start, String target, String piece) implements AnyMove {
        @Override
        public String toString() {
            return start + target + piece;
        }
    }

    private static final String SQUARE = "([a-h][1-8])";
    private static final List<Forms.Form<AnyMove>> FORMS = List.of(
            new Forms.Form<>(SQUARE + SQUARE, found -> new Move(found.group(1), found.group(2))),
            new Forms.Form<>(
                    SQUARE + SQUARE + "([qrbn])",
                    found -> new Promote(found.group(1), found.group(2), found.group(3))));

    /** What a move says. Throws an IllegalArgumentException if it is none. */
    public static AnyMove read(String text) {
        return Forms.read(text, "chess", FORMS);
    }
}
