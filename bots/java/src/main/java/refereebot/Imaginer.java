package refereebot;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A running {@code referee imagine}: answers what the view, the legal moves and the result would be after any moves, and plays
 * random continuations, without rules of one's own. It runs beside the bot, in the bot's time, and knows only the views that the
 * bot passes to it. {@code referee spec imagine} specifies its messages. It ends with the bot at the latest. Not for concurrent
 * use.
 */
public final class Imaginer implements AutoCloseable {
    /** So many positions are kept. */
    private static final int POSITIONS = 64;

    /** So many requests are written at once: their answers must fit into the buffer of a pipe. */
    private static final int AT_ONCE = 64;

    private final Process process;
    private final OutputStream input;
    private final BufferedReader output;
    private final Position[] positions = new Position[POSITIONS];
    private final Thread atExit = new Thread(this::end);
    private int imagined;

    /** A move of a seat. */
    public record SeatMove(int seat, String move) {}

    /**
     * A position after some moves.
     *
     * @param legal the legal moves of each seat that decides; empty when the game is over
     * @param view the view of the seat that was asked for; else null
     * @param turnsLeft null: there is no limit
     * @param over null unless the game is over
     */
    public record State(Map<Integer, List<String>> legal, JsonObject view, Integer turnsLeft, Result over) {}

    /**
     * The result of a game by seat, and the rule that ended it.
     *
     * @param ranks from 1
     * @param scores from 0 to 1
     * @param amounts what each seat gets, in the unit of the game; null in games without amounts
     */
    public record Result(List<Integer> ranks, List<Double> scores, List<Double> amounts, String reason) {}

    /** {@code referee imagine} rejected a request; {@link #code} says why. */
    public static final class RejectedException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        private final String code;

        private RejectedException(JsonObject error) {
            super(error.get("code").getAsString() + ": " + error.get("message").getAsString());
            code = error.get("code").getAsString();
        }

        /** The code of its {@code error}, such as {@code illegal_move}. */
        public String code() {
            return code;
        }
    }

    /** An imagined position: one or more worlds that agree with what a seat knows. The last 64 are kept. */
    public final class Position {
        private final int number;
        private final int worlds;

        private Position(int number, int worlds) {
            this.number = number;
            this.worlds = worlds;
        }

        /** The number of worlds; 1 in games without hidden information. */
        public int worlds() {
            return worlds;
        }

        /**
         * The position after these moves of all seats.
         *
         * @param world counted from 0
         * @param viewOf the seat whose view is wanted, or null
         * @param seed dice and shuffles derive from it
         * @throws RejectedException if a move is not legal
         */
        public State explore(List<SeatMove> moves, int world, Integer viewOf, long seed) throws IOException {
            JsonObject request = request("explore", moves, seed);
            request.addProperty("world", world);
            if (viewOf != null) {
                request.addProperty("view_of", viewOf);
            }
            JsonObject answer = ask(List.of(request)).get(0);
            Map<Integer, List<String>> legal = new TreeMap<>();
            answer.getAsJsonArray("decisions").forEach(decision -> {
                Decision read = Json.GSON.fromJson(decision, Decision.class);
                legal.put(read.seat, read.legal);
            });
            Integer turnsLeft = answer.has("turns_left") ? answer.get("turns_left").getAsInt() : null;
            return new State(
                    legal, answer.getAsJsonObject("view"), turnsLeft, Json.GSON.fromJson(answer.get("over"), Result.class));
        }

        /**
         * Plays random continuations after each of these lines of moves, each in a world drawn at random.
         *
         * @return for each line the mean score of each seat
         * @throws RejectedException if a move is not legal
         */
        public List<double[]> playouts(List<List<SeatMove>> lines, int count, long seed) throws IOException {
            List<JsonObject> requests = new ArrayList<>();
            for (List<SeatMove> moves : lines) {
                JsonObject request = request("playouts", moves, seed);
                request.addProperty("count", count);
                requests.add(request);
            }
            List<double[]> scores = new ArrayList<>();
            for (JsonObject answer : ask(requests)) {
                scores.add(Json.GSON.fromJson(answer.get("scores"), double[].class));
            }
            return scores;
        }

        private JsonObject request(String type, List<SeatMove> moves, long seed) {
            if (positions[number] != this) {
                throw new IllegalStateException(
                        "this position was replaced: " + POSITIONS + " newer ones have been imagined");
            }
            JsonObject request = new JsonObject();
            request.addProperty("type", type);
            request.addProperty("position", number);
            request.add("moves", Json.GSON.toJsonTree(moves));
            request.addProperty("seed", seed);
            return request;
        }
    }

    private record Decision(int seat, List<String> legal) {}

    /** Starts the program that the environment variable REFEREE names, or {@code referee} on the PATH. */
    public Imaginer() throws IOException {
        this(List.of());
    }

    /** The same, with the directories of games whose rules are programs, beside the games of the referee. */
    public Imaginer(List<String> games) throws IOException {
        this(named(), games);
    }

    /** Starts this program. */
    public Imaginer(String program) throws IOException {
        this(program, List.of());
    }

    /** Starts this program, with the directories of games whose rules are programs. */
    public Imaginer(String program, List<String> games) throws IOException {
        List<String> words = new ArrayList<>(List.of(program, "imagine"));
        games.forEach(game -> words.addAll(List.of("--game", game)));
        try {
            process = new ProcessBuilder(words)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new IOException(e.getMessage() + ": install referee, or name its program in REFEREE", e);
        }
        input = process.getOutputStream();
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    private static String named() {
        String program = System.getenv("REFEREE");
        return program == null || program.isEmpty() ? "referee" : program;
    }

    /**
     * Samples worlds that agree with what the seat of a turn knows.
     *
     * @param worlds 1 to 256
     * @param seed the same seed gives the same worlds
     * @throws RejectedException if the program does not know the game or its rules in this version
     */
    public Position imagine(Turn turn, int worlds, long seed) throws IOException {
        int number = imagined % POSITIONS;
        JsonObject request = new JsonObject();
        request.addProperty("type", "imagine");
        request.addProperty("position", number);
        request.addProperty("game", turn.start().game());
        request.addProperty("rules", turn.start().rules());
        request.addProperty("seats", turn.start().seats().size());
        request.add("options", turn.start().options());
        request.addProperty("seat", turn.seat());
        request.add("view", turn.view());
        if (turn.turnsLeft() != null) {
            request.addProperty("turns_left", turn.turnsLeft());
        }
        request.addProperty("worlds", worlds);
        request.addProperty("seed", seed);
        Position position = new Position(number, ask(List.of(request)).get(0).get("worlds").getAsInt());
        imagined++;
        positions[number] = position;
        return position;
    }

    private List<JsonObject> ask(List<JsonObject> requests) throws IOException {
        List<JsonObject> answers = new ArrayList<>();
        for (int first = 0; first < requests.size(); first += AT_ONCE) {
            List<JsonObject> part = requests.subList(first, Math.min(first + AT_ONCE, requests.size()));
            StringBuilder lines = new StringBuilder();
            part.forEach(request -> lines.append(request).append('\n'));
            try {
                input.write(lines.toString().getBytes(StandardCharsets.UTF_8));
                input.flush();
            } catch (IOException e) {
                throw new IOException("referee imagine has ended", e);
            }
            for (int i = 0; i < part.size(); i++) {
                String line = output.readLine();
                if (line == null) {
                    throw new IOException("referee imagine has ended");
                }
                answers.add(JsonParser.parseString(line).getAsJsonObject());
            }
        }
        for (JsonObject answer : answers) {
            if (answer.get("type").getAsString().equals("error")) {
                throw new RejectedException(answer);
            }
        }
        return answers;
    }

    /** Ends the program. */
    @Override
    public void close() throws IOException {
        end();
        output.close();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The bot ends.
        }
    }

    private void end() {
        try {
            input.close();
        } catch (IOException e) {
            // It has ended.
        }
        process.onExit().join();
    }
}
