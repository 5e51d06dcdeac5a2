package refereebot.games;

import java.util.List;

/** Saxum: dice, rows and columns are numbered from 1. Pairs are by seat. */
public final class Saxum {
    private Saxum() {}

    /**
     * The position.
     *
     * @param phase six while a six has to be resolved, otherwise field
     * @param dice the faces of die 1 and die 2; null when no roll lies on the table, which no turn shows
     * @param board the rows, in each a letter for each column: 0 and 1 the stones of the seats, . free
     * @param rows rows scored
     * @param insurance insurance stones left
     * @param supply stones not on the board
     */
    public record View(
            List<Integer> toMove,
            String phase,
            List<Integer> dice,
            List<String> board,
            List<Integer> points,
            List<Integer> rows,
            List<Integer> insurance,
            List<Integer> supply) {}

    /** A move; {@link #toString} is its text. */
    public sealed interface Move {}

    public record Reroll(int die) implements Move {
        @Override
        public String toString() {
            return "reroll " + die;
        }
    }

    /** Turns a die to a face, for points. */
    public record Turn(int die, int face) implements Move {
        @Override
        public String toString() {
            return "turn " + die + " " + face;
        }
    }

    public record Place(int row, int column) implements Move {
        @Override
        public String toString() {
            return "place " + row + " " + column;
        }
    }

    public record Score(int row, int column) implements Move {
        @Override
        public String toString() {
            return "score " + row + " " + column;
        }
    }

    /** Replaces an enemy stone for points. */
    public record Pay(int row, int column) implements Move {
        @Override
        public String toString() {
            return "pay " + row + " " + column;
        }
    }

    /** Replaces an enemy stone for an insurance stone. */
    public record Insure(int row, int column) implements Move {
        @Override
        public String toString() {
            return "insure " + row + " " + column;
        }
    }

    private interface Make {
        Move of(int one, int other);
    }

    private static Forms.Form<Move> two(String pattern, Make make) {
        return new Forms.Form<>(pattern, found -> make.of(Forms.number(found, 1), Forms.number(found, 2)));
    }

    private static final String FIELD = " ([1-5]) ([1-5])";
    private static final List<Forms.Form<Move>> FORMS = List.of(
            new Forms.Form<>("reroll ([12])", found -> new Reroll(Forms.number(found, 1))),
            two("turn ([12]) ([1-5])", Turn::new),
            two("place" + FIELD, Place::new),
            two("score" + FIELD, Score::new),
            two("pay" + FIELD, Pay::new),
            two("insure" + FIELD, Insure::new));

    /** What a move says. Throws an IllegalArgumentException if it is none. */
    public static Move read(String text) {
        return Forms.read(text, "Saxum", FORMS);
    }
}
