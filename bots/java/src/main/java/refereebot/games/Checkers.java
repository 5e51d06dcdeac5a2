package refereebot.games;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checkers: squares are numbered 1 to 32, seat 0 is Black. */
public final class Checkers {
    private Checkers() {}

    /**
     * The position.
     *
     * @param board a letter for each square from 1: b and w men, B and W kings, . empty
     * @param fen the same as PDN's FEN
     * @param quietPlies plies in a row without a capture or a crowning
     */
    public record View(List<Integer> toMove, String board, String fen, int quietPlies) {}

    /** A move; {@link #toString} is its text. */
    public sealed interface Move {
        /** Every square that the piece visits. */
        List<Integer> path();
    }

    public record Step(List<Integer> path) implements Move {
        @Override
        public String toString() {
            return join(path, "-");
        }
    }

    public record Capture(List<Integer> path) implements Move {
        @Override
        public String toString() {
            return join(path, "x");
        }
    }

    private static final String SQUARE = "(?:[1-9]|[12][0-9]|3[0-2])";
    private static final List<Forms.Form<Move>> FORMS = List.of(
            new Forms.Form<>(SQUARE + "-" + SQUARE, found -> new Step(path(found.group()))),
            new Forms.Form<>(SQUARE + "(?:x" + SQUARE + ")+", found -> new Capture(path(found.group()))));

    /** What a move says. Throws an IllegalArgumentException if it is none. */
    public static Move read(String text) {
        return Forms.read(text, "checkers", FORMS);
    }

    private static List<Integer> path(String text) {
        return Stream.of(text.split("[-x]")).map(Integer::valueOf).toList();
    }

    private static String join(List<Integer> path, String with) {
        return path.stream().map(String::valueOf).collect(Collectors.joining(with));
    }
}
