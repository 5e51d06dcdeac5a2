package refereebot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A bot as a process; what the shared vectors do not show. */
class ProcessTest {
    private static final String HELLO = "{\"type\":\"hello\",\"protocol\":1,\"server\":\"fake\",\"auth\":\"none\"}\n";
    private static final String START = "{\"type\":\"start\",\"match\":\"m1\",\"game\":\"checkers\",\"rules\":1,"
            + "\"seat\":0,\"seats\":[],\"clock\":null}\n";
    private static final String TURN =
            "{\"type\":\"turn\",\"match\":\"m1\",\"seat\":0,\"turn\":0,\"legal\":[\"a\"],\"clock\":null}\n";

    record Ended(int status, String stdout, String stderr) {}

    /** A bot that does what its first argument says. */
    static final class Bot {
        public static void main(String[] args) throws IOException {
            Referee.run(
                    turn -> {
                        System.out.println("loud");
                        return args[0].equals("null") ? null : Reply.move(turn.legal().get(0));
                    },
                    new Hello("bot"),
                    args);
            System.out.println("after");
        }
    }

    private static Process start(String... args) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path")));
        command.add(Bot.class.getName());
        Stream.of(args).forEach(command::add);
        return new ProcessBuilder(command).start();
    }

    private static Ended talk(String said, String... args) throws IOException, InterruptedException {
        Process bot = start(args);
        bot.getOutputStream().write(said.getBytes(StandardCharsets.UTF_8));
        bot.getOutputStream().close();
        String stdout = new String(bot.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String stderr = new String(bot.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(bot.waitFor(), stdout, stderr);
    }

    @Test
    void whatTheBotPrintsDoesNotReachTheReferee() throws Exception {
        Ended ended = talk(HELLO + START + TURN, "");
        assertEquals(0, ended.status, ended.stderr);
        assertEquals(3, ended.stdout.lines().count());
        assertFalse(ended.stdout.contains("loud"));
        assertEquals("loud\nafter\n", ended.stderr);
    }

    @Test
    void aForgottenReplyEndsTheBotWithAReason() throws Exception {
        Ended ended = talk(HELLO + START + TURN, "null");
        assertEquals(1, ended.status);
        assertTrue(ended.stderr.contains("choose returned null"), ended.stderr);
    }

    @Test
    void aNameThatTheProtocolForbidsIsRefusedAtOnce() throws Exception {
        Ended ended = talk("", "", "--name", "a/b");
        assertEquals(1, ended.status);
        assertTrue(ended.stderr.contains("name 'a/b': must be"), ended.stderr);
    }

    @Test
    void aRefereeThatReadsNoMoreEndsTheBotWithStatus0() throws Exception {
        Process bot = start("");
        bot.getInputStream().close();
        bot.getOutputStream().write(HELLO.getBytes(StandardCharsets.UTF_8));
        bot.getOutputStream().flush();
        assertEquals(0, bot.waitFor());
    }
}
