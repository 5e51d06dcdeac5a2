package refereebot;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.ThreadLocalRandom;

/** A lost connection. */
final class Loss {
    /** Milliseconds before the first attempt, doubled with each further one. */
    private static final double FIRST_DELAY = 500;
    /** The maximum of these milliseconds: the referee may be back just before it stops waiting. */
    private static final double MOST_DELAY = 5_000;
    /** Milliseconds after which the referee does not wait any more. */
    private static final double RECONNECT_TIMEOUT = 60_000;

    private final long since = System.nanoTime();
    private double delay = FIRST_DELAY;

    Loss() {
        System.err.println("refereebot: the connection to the referee is lost; connecting again");
    }

    /** What all connections of this process have in common. */
    static String newInstance() {
        return Long.toHexString(new SecureRandom().nextLong());
    }

    /** A new connection, or null if there is none in time. */
    Connection reconnect(Options options) {
        while (true) {
            double wait = delay * (0.75 + ThreadLocalRandom.current().nextDouble() / 2);
            if (elapsed() + wait > RECONNECT_TIMEOUT) {
                System.err.printf("refereebot: the referee cannot be reached within %.0f s%n", RECONNECT_TIMEOUT / 1000);
                return null;
            }
            delay = Math.min(2 * delay, MOST_DELAY);
            try {
                Thread.sleep((long) wait);
                Connection connection = Connection.open(options);
                System.err.printf("refereebot: connected again after %.1f s%n", elapsed() / 1000);
                return connection;
            } catch (IOException error) {
                // The next attempt follows.
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                return null;
            }
        }
    }

    private double elapsed() {
        return (System.nanoTime() - since) / 1e6;
    }
}
