package refereebot;

import java.util.List;
import java.util.Map;

/**
 * What a bot says of itself. {@code new Hello("first").slots(8).wants("view", "legal")}
 *
 * @param name 1 to 64 of ASCII letters, digits, '.', '_', '-' and space
 * @param details what identifies how the bot plays, such as its model and settings, recorded: at most 32 texts of at most
 *     256 characters; null: nothing
 * @param games the games that the bot plays; null: any
 * @param slots the number of concurrent matches
 * @param wants the subset of view, legal and event that the referee sends; null: all
 * @param push events arrive immediately instead of with the turn
 */
public record Hello(
        String name,
        String version,
        String author,
        Map<String, String> details,
        List<String> games,
        int slots,
        List<String> wants,
        boolean push) {

    /**
     * Refuses here, with a reason, what the referee would refuse after its start-up limit.
     *
     * @throws IllegalArgumentException if the protocol does not allow it
     */
    public Hello {
        if (name == null || !name.matches("[A-Za-z0-9._ -]{1,64}")) {
            throw new IllegalArgumentException(
                    "name '" + name + "': must be 1 to 64 of ASCII letters, digits, '.', '_', '-' and space");
        }
        if (slots < 1) {
            throw new IllegalArgumentException("slots " + slots + ": must be at least 1");
        }
        if (wants != null && !List.of("view", "legal", "event").containsAll(wants)) {
            throw new IllegalArgumentException("wants " + wants + ": must be among view, legal, event");
        }
    }

    public Hello(String name) {
        this(name, null, null, null, null, 1, null, false);
    }

    public Hello name(String name) {
        return new Hello(name, version, author, details, games, slots, wants, push);
    }

    public Hello version(String version) {
        return new Hello(name, version, author, details, games, slots, wants, push);
    }

    public Hello author(String author) {
        return new Hello(name, version, author, details, games, slots, wants, push);
    }

    public Hello details(Map<String, String> details) {
        return new Hello(name, version, author, details, games, slots, wants, push);
    }

    public Hello games(String... games) {
        return new Hello(name, version, author, details, List.of(games), slots, wants, push);
    }

    public Hello slots(int slots) {
        return new Hello(name, version, author, details, games, slots, wants, push);
    }

    public Hello wants(String... wants) {
        return new Hello(name, version, author, details, games, slots, List.of(wants), push);
    }

    public Hello push(boolean push) {
        return new Hello(name, version, author, details, games, slots, wants, push);
    }
}
