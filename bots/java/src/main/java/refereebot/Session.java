package refereebot;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A bot's side of the protocol, without I/O. */
final class Session {
    private record Place(String match, int seat) {}

    /** One seat in one running match. */
    private static final class Play {
        final Start start;
        /** The answer to start. */
        JsonObject ready;
        /** What happened since the previous turn. */
        final List<JsonObject> events = new ArrayList<>();
        long nextEvent;
        /** The last request with its answer, which the referee may not have received. */
        long asked = -1;
        JsonObject answer;

        Play(Start start) {
            this.start = start;
        }
    }

    private final Bot bot;
    private final Hello hello;
    private final String token;
    private final String instance;
    private final Map<Place, Play> plays = new HashMap<>();
    private boolean over;
    private boolean reconnects;
    private boolean heard;
    private boolean started;
    private JsonObject error; // the referee's error, if it was the last message

    /** The instance is what all connections of the process have in common; null: a match ends with its connection. */
    Session(Bot bot, Hello hello, String token, String instance) {
        this.bot = bot;
        this.hello = hello;
        this.token = token;
        this.instance = instance;
    }

    /** Whether the matches go on when the connection is lost and the bot connects again. */
    boolean reconnects() {
        return reconnects;
    }

    /** Whether there was a message since the previous call. */
    boolean takeHeard() {
        boolean wasHeard = heard;
        heard = false;
        return wasHeard;
    }

    /** Whether the referee has said its last bye. */
    boolean isOver() {
        return over;
    }

    /** Why the referee refuses the bot, or null: the error that came last, where no match has started. */
    RefusedException refusal() {
        return started || error == null ? null : new RefusedException(error);
    }

    /** Handles a line and returns the answer, or null if it asks for none. What is unknown is ignored. */
    JsonObject handle(String line) {
        JsonObject message = parse(line);
        if (message == null || !(message.get("type") instanceof JsonPrimitive type)) {
            return null;
        }
        heard = true;
        if (!type.getAsString().equals("bye")) {
            error = type.getAsString().equals("error") ? message : null;
        }
        switch (type.getAsString()) {
            case "hello":
                return hello(message);
            case "ping":
                JsonObject pong = new JsonObject();
                pong.addProperty("type", "pong");
                pong.add("id", message.get("id"));
                return pong;
            case "start":
                return start(message);
            case "error":
                log("error: " + line);
                return null;
            case "bye":
                if (instance != null) { // over TCP the referee keeps no standard error
                    log("the referee closes the connection: " + message.get("reason").getAsString());
                }
                // Otherwise the connection ends, and the bot connects again.
                over = !(reconnects && isTrue(message, "reconnect"));
                return null;
            case "event", "turn", "end":
                Place place = new Place(message.get("match").getAsString(), message.get("seat").getAsInt());
                Play play = plays.get(place);
                if (play != null) {
                    return inPlay(type.getAsString(), message, place, play);
                }
                if (reconnects && type.getAsString().equals("end")) {
                    return null; // repeated after a lost connection
                }
                log("ignored, no such match here: " + line);
                return null;
            default:
                return null;
        }
    }

    private JsonObject inPlay(String type, JsonObject message, Place place, Play play) {
        if (type.equals("turn")) {
            // The referee repeats a request after a lost connection.
            if (play.asked != message.get("turn").getAsLong()) {
                play.answer = turn(message, place, play);
                play.asked = message.get("turn").getAsLong();
            }
            return play.answer;
        }
        if (type.equals("event")) {
            long n = message.has("n") ? message.get("n").getAsLong() : play.nextEvent;
            if (n < play.nextEvent) {
                return null; // repeated after a lost connection
            }
            play.nextEvent = n + 1;
            JsonObject event = message.getAsJsonObject("event");
            play.events.add(event);
            bot.event(place.match, place.seat, event);
        } else {
            plays.remove(place);
            bot.end(Json.GSON.fromJson(message, End.class));
        }
        return null;
    }

    private JsonObject hello(JsonObject message) {
        JsonObject answer = new JsonObject();
        answer.addProperty("type", "hello");
        answer.addProperty("protocol", 1);
        Json.GSON.toJsonTree(hello).getAsJsonObject().asMap().forEach(answer::add);
        if (hello.slots() == 1) {
            answer.remove("slots");
        }
        if (!hello.push()) {
            answer.remove("push");
        }
        if (token != null && new JsonPrimitive("token").equals(message.get("auth"))) {
            answer.addProperty("token", token);
        }
        reconnects = instance != null && isTrue(message, "reconnect");
        if (reconnects) {
            answer.addProperty("reconnect", instance);
        }
        return answer;
    }

    private JsonObject start(JsonObject message) {
        Start start = Json.GSON.fromJson(message, Start.class);
        Place place = new Place(start.match(), start.seat());
        started = true;
        Play known = plays.get(place);
        if (known != null && isTrue(message, "resumed")) {
            return known.ready;
        }
        Play play = new Play(start);
        plays.put(place, play);
        String nonce = bot.start(start);
        JsonObject ready = answer("ready", place);
        if (nonce != null) {
            ready.addProperty("nonce", nonce);
        }
        play.ready = ready;
        return ready;
    }

    private static boolean isTrue(JsonObject message, String field) {
        return new JsonPrimitive(true).equals(message.get(field));
    }

    private JsonObject turn(JsonObject message, Place place, Play play) {
        List<JsonObject> events = List.copyOf(play.events);
        play.events.clear();
        Turn read = Json.GSON.fromJson(message, Turn.class);
        List<String> legal = read.legal() == null ? List.of() : read.legal();
        Turn turn = new Turn(
                place.match, place.seat, read.turn(), read.view(), legal, read.clock(), read.banksMs(), read.turnsLeft(),
                read.drawOffered(), read.retry(), play.start, events);
        Reply reply = bot.choose(turn);
        if (reply instanceof Reply.Resign) {
            return answer("resign", place);
        }
        JsonObject answer;
        if (reply instanceof Reply.Move move) {
            answer = answer("move", place);
            answer.addProperty("move", move.move());
            if (move.offerDraw()) {
                answer.addProperty("offer_draw", true);
            }
            addInfo(answer, move.info());
        } else if (reply instanceof Reply.Unable unable) {
            answer = answer("unable", place);
            answer.add("because", Json.GSON.toJsonTree(unable.because()));
            addInfo(answer, unable.info());
        } else if (reply instanceof Reply.AcceptDraw) {
            answer = answer("accept_draw", place);
        } else {
            throw new NullPointerException("choose returned null, not a Reply");
        }
        answer.addProperty("turn", turn.turn());
        return answer;
    }

    private static void addInfo(JsonObject answer, Object info) {
        if (info != null) {
            answer.add("info", info instanceof JsonElement json ? json : Json.GSON.toJsonTree(info));
        }
    }

    private static JsonObject answer(String type, Place place) {
        JsonObject answer = new JsonObject();
        answer.addProperty("type", type);
        answer.addProperty("match", place.match);
        answer.addProperty("seat", place.seat);
        return answer;
    }

    private static JsonObject parse(String line) {
        try {
            JsonElement message = JsonParser.parseString(line);
            if (message instanceof JsonObject object) {
                return object;
            }
            log("skipped a line that is no JSON object");
        } catch (JsonSyntaxException error) {
            log("skipped a line that is not JSON: " + error.getMessage());
        }
        return null;
    }

    private static void log(String text) {
        System.err.println("refereebot: " + text);
    }
}
