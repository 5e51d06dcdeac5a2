package refereebot;

import com.google.gson.JsonObject;
import java.io.IOException;

/** The referee rejected the bot before its first match, for example for a wrong token. */
public final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final String code;

    RefusedException(JsonObject error) {
        super("the referee refused the bot: " + text(error, "code") + ": " + text(error, "message"));
        code = text(error, "code");
    }

    /** The code of the referee's error, such as {@code wrong_token}. */
    public String code() {
        return code;
    }

    private static String text(JsonObject error, String field) {
        return error.has(field) ? error.get(field).getAsString() : "";
    }
}
