package refereebot.samples;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import refereebot.Hello;
import refereebot.Referee;
import refereebot.Reply;

/** Plays a random legal move, in any game; resigns where the game does not list its moves. {@code --seed N} makes its choices repeatable, {@code --slots N} plays N matches at once. */
public final class RandomBot {
    private RandomBot() {}

    public static void main(String[] args) throws IOException {
        Random random = random(args);
        // It looks at nothing but the legal moves, so it asks for nothing else.
        Referee.run(
                turn -> turn.legal().isEmpty()
                        ? new Reply.Resign()
                        : Reply.move(turn.legal().get(random.nextInt(turn.legal().size()))),
                new Hello("random").version("0.1.0").wants("legal").slots(slots(args)),
                args);
    }

    static Random random(String... args) {
        String seed = option("--seed", args);
        return seed == null ? new Random() : new Random(Long.parseLong(seed));
    }

    static int slots(String... args) {
        String slots = option("--slots", args);
        return slots == null ? 1 : Integer.parseInt(slots);
    }

    private static String option(String name, String... args) {
        int at = List.of(args).indexOf(name);
        return at < 0 ? null : args[at + 1];
    }
}
