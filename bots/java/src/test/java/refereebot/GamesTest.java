package refereebot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import refereebot.games.Checkers;
import refereebot.games.Chess;
import refereebot.games.Jeex;
import refereebot.games.Keezen;
import refereebot.games.Saxum;
import refereebot.games.XeQueo;

/** Views and moves of every game are read and written as the shared vectors say. */
class GamesTest {
    private record Game(Class<?> view, Function<String, Object> read) {}

    private static final Map<String, Game> GAMES = Map.of(
            "checkers", new Game(Checkers.View.class, Checkers::read),
            "chess", new Game(Chess.View.class, Chess::read),
            "jeex", new Game(Jeex.View.class, Jeex::read),
            "saxum", new Game(Saxum.View.class, Saxum::read),
            "xe_queo", new Game(XeQueo.View.class, XeQueo::read),
            "keezen", new Game(Keezen.View.class, Keezen::read));

    private static List<JsonObject> vectors(String name) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("../vectors", name));
        return lines.stream().map(line -> JsonParser.parseString(line).getAsJsonObject()).toList();
    }

    @Test
    void movesAreReadAndWritten() throws IOException {
        for (JsonObject vector : vectors("moves.jsonl")) {
            Game game = GAMES.get(vector.get("game").getAsString());
            String text = vector.get("move").getAsString();
            if (vector.get("read").isJsonNull()) {
                assertThrows(IllegalArgumentException.class, () -> game.read.apply(text), vector.toString());
                continue;
            }
            Object move = game.read.apply(text);
            JsonObject read = Json.GSON.toJsonTree(move).getAsJsonObject();
            read.addProperty("kind", move.getClass().getSimpleName().toLowerCase(Locale.ROOT));
            assertEquals(vector.get("read"), JsonParser.parseString(read.toString()));
            assertEquals(text, move.toString());
        }
    }

    @Test
    void viewsAreRead() throws IOException {
        for (JsonObject vector : vectors("views.jsonl")) {
            Game game = GAMES.get(vector.get("game").getAsString());
            JsonElement expected = vector.has("read") ? vector.get("read") : vector.get("view");
            Object view = Json.GSON.fromJson(vector.get("view"), game.view);
            String text = Json.GSON.newBuilder().serializeNulls().create().toJson(view);
            assertEquals(expected, JsonParser.parseString(text));
        }
    }
}
