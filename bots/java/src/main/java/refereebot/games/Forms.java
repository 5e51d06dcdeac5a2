package refereebot.games;

import java.util.List;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How the texts of moves are read. */
final class Forms {
    private Forms() {}

    /** A pattern, and what makes a move of its groups. */
    record Form<M>(Pattern pattern, Function<MatchResult, ? extends M> make) {
        Form(String pattern, Function<MatchResult, ? extends M> make) {
            this(Pattern.compile(pattern), make);
        }
    }

    /** What the first form that fits makes of a text. */
    static <M> M read(String text, String game, List<Form<M>> forms) {
        for (Form<M> form : forms) {
            Matcher matcher = form.pattern.matcher(text);
            if (matcher.matches()) {
                return form.make.apply(matcher);
            }
        }
        throw new IllegalArgumentException("'" + text + "' is no move of " + game);
    }

    static int number(MatchResult found, int group) {
        return Integer.parseInt(found.group(group));
    }
}
