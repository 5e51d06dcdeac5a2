package refereebot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The connection options of the command line. */
record Options(String host, int port, boolean tls, Path ca, String token, String name) {
    /** Reads the options of the connection. What the arguments hold beside them is the bot's own. */
    static Options read(String... args) throws IOException {
        String connect = value("--connect", args);
        String host = null;
        int port = 0;
        if (connect != null) {
            int colon = connect.lastIndexOf(':');
            if (colon < 1 || !connect.substring(colon + 1).matches("[0-9]{1,5}")) {
                throw new IllegalArgumentException("'" + connect + "' is not HOST:PORT");
            }
            host = connect.substring(0, colon).replaceAll("^\\[|\\]$", "");
            port = Integer.parseInt(connect.substring(colon + 1));
        }
        String ca = value("--ca", args);
        String file = value("--token-file", args);
        String token = file == null ? System.getenv("REFEREE_TOKEN") : Files.readString(Path.of(file));
        return new Options(
                host,
                port,
                List.of(args).contains("--tls"),
                ca == null ? null : Path.of(ca),
                token == null || token.isBlank() ? null : token.strip(),
                value("--name", args));
    }

    private static String value(String name, String... args) {
        for (int i = 0; i < args.length; i++) {
            if (args[i].startsWith(name + "=")) {
                return args[i].substring(name.length() + 1);
            }
            if (args[i].equals(name)) {
                if (i + 1 == args.length) {
                    throw new IllegalArgumentException(name + " needs a value");
                }
                return args[i + 1];
            }
        }
        return null;
    }
}
