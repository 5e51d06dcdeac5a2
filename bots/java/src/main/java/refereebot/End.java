package refereebot;

import java.util.List;

/**
 * A match is over.
 *
 * @param endedBy rules, agreement, resignation, fault, turn_limit, adjudication or aborted
 * @param ranks from 1, by seat; null when it was aborted
 * @param scores from 0 to 1, by seat; null when it was aborted
 * @param amounts what each seat gets, in the unit of the game; null when it was aborted, and in games without amounts
 * @param fault null unless one ended the match
 * @param reveal what the chance came from; null when it may not be shown
 */
public record End(
        String match,
        int seat,
        String endedBy,
        String reason,
        List<Integer> ranks,
        List<Double> scores,
        List<Double> amounts,
        Fault fault,
        Reveal reveal) {

    /** The fault that ended the match, and its seat. */
    public record Fault(int seat, String code, String detail) {}

    /** What the chance of the match came from. */
    public record Reveal(String seed, String salt, String deal, List<String> nonces) {}
}
