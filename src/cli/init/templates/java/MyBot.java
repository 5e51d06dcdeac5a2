import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A bot for any game of the referee. It needs no library: the referee writes `type` first and no spaces, and moves are
 * strings of ASCII without escapes. For the fields of `view`, take a JSON library.
 */
class MyBot {
    private static final Pattern TYPE = Pattern.compile("^\\{\"type\":\"([a-z_]+)\"");
    private static final Pattern MATCH = Pattern.compile("\"match\":\"([^\"]*)\"");
    private static final Pattern SEAT = Pattern.compile("\"seat\":(\\d+)");
    private static final Pattern TURN = Pattern.compile("\"turn\":(\\d+)");
    private static final Pattern LEGAL = Pattern.compile("\"legal\":\\[([^\\]]*)\\]");
    private static final Pattern STRING = Pattern.compile("\"([^\"]*)\"");

    /** Chooses a move: `turn` is the request with the position, `legal` lists the legal moves. */
    static String choose(String turn, List<String> legal) {
        return legal.get(ThreadLocalRandom.current().nextInt(legal.size()));
    }

    private static String find(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        return matcher.find() ? matcher.group(1) : "";
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String where = "\"match\":\"" + find(MATCH, line) + "\",\"seat\":";
            switch (find(TYPE, line)) {
                case "hello" -> out.print("{\"type\":\"hello\",\"protocol\":1,\"name\":\"@NAME@\"}\n");
                // The seat of the bot comes before the list of all seats.
                case "start" -> out.print("{\"type\":\"ready\"," + where + find(SEAT, line) + "}\n");
                case "turn" -> {
                    List<String> legal = STRING.matcher(find(LEGAL, line)).results()
                            .map(found -> found.group(1)).collect(Collectors.toList());
                    out.print("{\"type\":\"move\"," + where + find(SEAT, line) + ",\"turn\":" + find(TURN, line)
                            + ",\"move\":\"" + choose(line, legal) + "\"}\n");
                }
                case "error" -> System.err.println(line);
                case "bye" -> {
                    return;
                }
                default -> { }
            }
            out.flush();
        }
    }
}
