/** The six games: for each the view as a value, and the texts of its moves both ways. */
package refereebot.games;
