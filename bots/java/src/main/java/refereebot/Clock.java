package refereebot;

/** The time control of a match: the delay of each answer is free, the rest comes from the bank. Milliseconds. */
public record Clock(long delayMs, long bankMs, long incrementMs) {}
