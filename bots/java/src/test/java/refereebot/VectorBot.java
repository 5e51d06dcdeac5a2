package refereebot;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.Map;

/** Does what bots/vectors/README.md says. */
final class VectorBot implements Bot {
    private final JsonArray ended = new JsonArray();

    public static void main(String[] args) throws IOException {
        Hello hello = new Hello("vector").version("1.0").details(Map.of("kind", "test")).slots(64);
        Referee.run(new VectorBot(), hello, args);
    }

    @Override
    public String start(Start start) {
        return start.nonce() ? "00ff" : null;
    }

    @Override
    public Reply choose(Turn turn) {
        if (turn.drawOffered()) {
            return new Reply.AcceptDraw();
        }
        if (turn.retry() != null) {
            return new Reply.Resign();
        }
        if (turn.view().has("unable")) {
            return Json.GSON.fromJson(turn.view().get("unable"), Reply.Unable.class);
        }
        JsonObject info = new JsonObject();
        info.addProperty("game", turn.start().game());
        info.addProperty("events", turn.events().size());
        info.addProperty("limit_ms", turn.clock() == null ? null : turn.clock().limitMs());
        info.add("ended", ended.deepCopy());
        if (turn.banksMs() != null) {
            info.add("banks_ms", Json.GSON.toJsonTree(turn.banksMs()));
        }
        boolean isLast = turn.turnsLeft() != null && turn.turnsLeft() == 1;
        return new Reply.Move(turn.start().unlisted() ? "unlisted" : turn.legal().get(0), isLast, info);
    }

    @Override
    public void end(End end) {
        ended.add(end.endedBy());
    }
}
