package refereebot.games;

import com.google.gson.TypeAdapter;
import com.google.gson.annotations.JsonAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Jeex: fields are a1 to e3 but for the centre c2; directions are N, NE, ...; seat 0 is White. */
public final class Jeex {
    private Jeex() {}

    /**
     * The position.
     *
     * @param phase opening until both first stones are placed, then play
     * @param stones by field
     * @param supply what each seat can still place
     * @param removed stones that are out of the game
     * @param quietPlies rotations in a row
     */
    public record View(
            List<Integer> toMove,
            String phase,
            Map<String, Stone> stones,
            List<Integer> supply,
            int removed,
            int quietPlies) {}

    /** A stone on the board: its owner's seat and its direction. */
    @JsonAdapter(StoneAdapter.class)
    public record Stone(int owner, String direction) {}

    /** A move; {@link #toString} is its text. */
    public sealed interface Move {}

    public record Place(String field, String direction) implements Move {
        @Override
        public String toString() {
            return "place " + field + " " + direction;
        }
    }

    public record Rotate(String field, String direction) implements Move {
        @Override
        public String toString() {
            return "rotate " + field + " " + direction;
        }
    }

    /** The stone on {@code field} captures the one on {@code target}. */
    public record Capture(String field, String target) implements Move {
        @Override
        public String toString() {
            return "capture " + field + " " + target;
        }
    }

    public record Claim() implements Move {
        @Override
        public String toString() {
            return "claim";
        }
    }

    private static final String FIELD = "([abde][123]|c[13])";
    private static final String DIRECTION = "(N|NE|E|SE|S|SW|W|NW)";
    private static final List<Forms.Form<Move>> FORMS = List.of(
            new Forms.Form<>("place " + FIELD + " " + DIRECTION, found -> new Place(found.group(1), found.group(2))),
            new Forms.Form<>("rotate " + FIELD + " " + DIRECTION, found -> new Rotate(found.group(1), found.group(2))),
            new Forms.Form<>("capture " + FIELD + " " + FIELD, found -> new Capture(found.group(1), found.group(2))),
            new Forms.Form<>("claim", found -> new Claim()));

    /** What a move says. Throws an IllegalArgumentException if it is none. */
    public static Move read(String text) {
        return Forms.read(text, "Jeex", FORMS);
    }

    private static final class StoneAdapter extends TypeAdapter<Stone> {
        @Override
        public Stone read(JsonReader in) throws IOException {
            in.beginArray();
            Stone stone = new Stone(in.nextInt(), in.nextString());
            in.endArray();
            return stone;
        }

        @Override
        public void write(JsonWriter out, Stone stone) throws IOException {
            out.beginArray().value(stone.owner).value(stone.direction).endArray();
        }
    }
}
