package refereebot.games;

import com.google.gson.TypeAdapter;
import com.google.gson.annotations.JsonAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Xe Queo!: squares are a1 to g7, pawns are named by colour and are neutral. */
public final class XeQueo {
    private XeQueo() {}

    public static final List<String> PAWNS = List.of("red", "orange", "yellow", "green", "blue", "purple", "black");

    /**
     * The position as a seat may see it.
     *
     * @param round from 1
     * @param phase ring, choose, play or over
     * @param toMove both seats in phase choose
     * @param rings what each seat has won
     * @param pawns the square of each
     * @param ring its square; null until it is placed
     * @param choice the pawn that the viewer has chosen in secret; null before that
     * @param moves those of this round
     * @param lastRound null in the first
     */
    public record View(
            int round,
            String phase,
            List<Integer> toMove,
            List<Integer> rings,
            Map<String, String> pawns,
            String ring,
            String choice,
            List<Moved> moves,
            LastRound lastRound) {}

    /** Who moved which pawn where. */
    @JsonAdapter(MovedAdapter.class)
    public record Moved(int seat, String pawn, String square) {}

    /**
     * How the round before ended.
     *
     * @param choices by seat
     * @param reason entered, entered_rival, accused or accused_wrongly
     */
    public record LastRound(int winner, List<String> choices, String reason) {}

    /** Any of the moves; {@link #toString} is its text. */
    public sealed interface AnyMove {}

    public record Ring(String square) implements AnyMove {
        @Override
        public String toString() {
            return "ring " + square;
        }
    }

    public record Choose(String pawn) implements AnyMove {
        @Override
        public String toString() {
            return "choose " + pawn;
        }
    }

    /** {@code square} is where the pawn goes; its path is not part of the message. */
    public record Move(String pawn, String square) implements AnyMove {
        @Override
        public String toString() {
            return "move " + pawn + " " + square;
        }
    }

    public record Accuse(String pawn) implements AnyMove {
        @Override
        public String toString() {
            return "accuse " + pawn;
        }
    }

    private static final String SQUARE = "([a-g][1-7])";
    private static final String PAWN = "(" + String.join("|", PAWNS) + ")";
    private static final List<Forms.Form<AnyMove>> FORMS = List.of(
            new Forms.Form<>("ring " + SQUARE, found -> new Ring(found.group(1))),
            new Forms.Form<>("choose " + PAWN, found -> new Choose(found.group(1))),
            new Forms.Form<>("move " + PAWN + " " + SQUARE, found -> new Move(found.group(1), found.group(2))),
            new Forms.Form<>("accuse " + PAWN, found -> new Accuse(found.group(1))));

    /** What a move says. Throws an IllegalArgumentException if it is none. */
    public static AnyMove read(String text) {
        return Forms.read(text, "Xe Queo!", FORMS);
    }

    private static final class MovedAdapter extends TypeAdapter<Moved> {
        @Override
        public Moved read(JsonReader in) throws IOException {
            in.beginArray();
            Moved moved = new Moved(in.nextInt(), in.nextString(), in.nextString());
            in.endArray();
            return moved;
        }

        @Override
        public void write(JsonWriter out, Moved moved) throws IOException {
            out.beginArray().value(moved.seat).value(moved.pawn).value(moved.square).endArray();
        }
    }
}
