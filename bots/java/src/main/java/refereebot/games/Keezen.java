package refereebot.games;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Keezen: a pawn is named by its position: base, t17 on the track, h0.1 in the home of seat 0. */
public final class Keezen {
    private Keezen() {}

    /**
     * The position as a seat may see it.
     *
     * @param track how many squares it has
     * @param starts the start square of each seat
     * @param pawns where those of each seat stand
     * @param hand the viewer's cards; null for spectators
     * @param hands other hands that the viewer may see, by seat
     * @param cards how many each hand holds
     * @param deal 0 to 2 within the cycle
     * @param pile cards played and handed in within this cycle, in order
     * @param playingFor the seat whose pawns the seat to move plays; null when no seat is to move
     */
    public record View(
            List<Integer> toMove,
            int track,
            List<Integer> starts,
            List<List<String>> pawns,
            List<String> hand,
            Map<Integer, List<String>> hands,
            List<Integer> cards,
            int dealer,
            int cycle,
            int deal,
            List<String> pile,
            Integer playingFor) {}

    /** A move; {@link #toString} is its text. */
    public sealed interface Move {}

    /** Brings a pawn onto its start; {@code seat} is the partner's when the pawn is, else null. */
    public record Enter(String card, Integer seat) implements Move {
        @Override
        public String toString() {
            return seat == null ? card + " enter" : card + " enter " + seat;
        }
    }

    /** Moves one pawn by the worth of the card; a 4 goes backward. */
    public record Step(String card, String pawn) implements Move {
        @Override
        public String toString() {
            return card + " " + pawn;
        }
    }

    /** Splits a 7 over two pawns, in this order. */
    public record Split(String pawn, int steps, String other, int otherSteps) implements Move {
        @Override
        public String toString() {
            return "7 " + pawn + " " + steps + " " + other + " " + otherSteps;
        }
    }

    /** Plays a jack: an own pawn changes places with another player's. */
    public record Swap(String pawn, String other) implements Move {
        @Override
        public String toString() {
            return "J " + pawn + " " + other;
        }
    }

    private static final String TRACK = "(t(?:0|[1-9][0-9]?))";
    private static final String PAWN = "(t(?:0|[1-9][0-9]?)|h[0-5]\\.[0-3])";

    private static Forms.Form<Move> split(int steps) {
        String pattern = "7 " + PAWN + " " + steps + " " + PAWN + " " + (7 - steps);
        return new Forms.Form<>(pattern, found -> new Split(found.group(1), steps, found.group(2), 7 - steps));
    }

    private static final List<Forms.Form<Move>> FORMS = Stream.concat(
                    Stream.<Forms.Form<Move>>of(
                            new Forms.Form<>("([AK]) enter", found -> new Enter(found.group(1), null)),
                            new Forms.Form<>(
                                    "([AK]) enter ([0-5])", found -> new Enter(found.group(1), Forms.number(found, 2))),
                            new Forms.Form<>(
                                    "(A|[2-9]|10|Q) " + PAWN, found -> new Step(found.group(1), found.group(2))),
                            new Forms.Form<>(
                                    "J " + TRACK + " " + TRACK, found -> new Swap(found.group(1), found.group(2)))),
                    IntStream.rangeClosed(1, 6).mapToObj(Keezen::split))
            .toList();

    /** What a move says. Throws an IllegalArgumentException if it is none. */
    public static Move read(String text) {
        return Forms.read(text, "Keezen", FORMS);
    }
}
