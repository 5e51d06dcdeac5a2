package refereebot.samples;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import refereebot.Hello;
import refereebot.Referee;
import refereebot.Reply;

/** Plays a random legal move, in any game. {@code --seed N} makes its choices repeatable. */
public final class RandomBot {
    private RandomBot() {}

    public static void main(String[] args) throws IOException {
        Random random = random(args);
        // It looks at nothing but the legal moves, so it asks for nothing else.
        Referee.run(
                turn -> Reply.move(turn.legal().get(random.nextInt(turn.legal().size()))),
                new Hello("random").version("0.1.0").wants("legal"),
                args);
    }

    static Random random(String... args) {
        int at = List.of(args).indexOf("--seed");
        return at < 0 ? new Random() : new Random(Long.parseLong(args[at + 1]));
    }
}
