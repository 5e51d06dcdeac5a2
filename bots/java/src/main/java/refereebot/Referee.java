package refereebot;

import com.google.gson.JsonObject;
import java.io.IOException;

/** Where a bot meets its referee. */
public final class Referee {
    private Referee() {}

    /**
     * Plays every match that the referee starts; returns after its bye or at the end of the input.
     *
     * <p>Reads {@code --connect HOST:PORT}, {@code --tls}, {@code --ca FILE}, {@code --token-file FILE} and {@code --name
     * NAME} from the arguments, passing over others, and the environment variable {@code REFEREE_TOKEN}. Without {@code
     * --connect} the referee is at stdin and stdout, and what the bot prints goes to stderr. If a connection over TCP is
     * lost and the referee offers it, the bot connects again and its matches go on.
     *
     * @throws RefusedException if the referee refuses the bot before its first match
     * @throws IOException if the referee cannot be reached or fails TLS verification
     * @throws IllegalArgumentException if the arguments make no sense
     */
    public static void run(Bot bot, Hello hello, String... args) throws IOException {
        Options options = Options.read(args);
        Hello named = options.name() == null ? hello : hello.name(options.name());
        Session session = new Session(bot, named, options.token(), options.host() == null ? null : Loss.newInstance());
        Connection connection = Connection.open(options);
        Loss loss = null;
        while (connection != null) {
            play(session, connection);
            if (session.isOver() || !session.reconnects()) {
                break;
            }
            connection.close();
            if (session.takeHeard() || loss == null) {
                loss = new Loss();
            }
            connection = loss.reconnect(options);
        }
        if (session.refusal() != null) {
            throw session.refusal();
        }
    }

    private static void play(Session session, Connection connection) throws IOException {
        String line;
        while (!session.isOver() && (line = connection.read()) != null) {
            JsonObject answer = line.isBlank() ? null : session.handle(line);
            if (answer != null && !connection.write(answer.toString())) {
                break;
            }
        }
    }
}
