/** Write a bot for referee: a function from a turn to one of its legal moves. Start at {@link refereebot.Referee}. */
package refereebot;
