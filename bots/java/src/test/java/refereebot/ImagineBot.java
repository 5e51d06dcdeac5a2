package refereebot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Compares every turn with the position that {@code referee imagine} has, then plays the best of its playouts. Run by
 * tests/cli/imagine.rs.
 */
final class ImagineBot {
    private ImagineBot() {}

    public static void main(String[] args) throws IOException {
        try {
            new Imaginer("/no/such/referee");
            check(false, "a missing program starts");
        } catch (IOException e) {
            check(e.getMessage().contains("REFEREE"), e.getMessage());
        }
        String game = System.getenv("IMAGINE_GAME");
        Imaginer imaginer = new Imaginer(game == null ? List.of() : List.of(game));
        {
            Referee.run(turn -> choose(imaginer, turn), new Hello("imagine").wants("view", "legal"), args);
        }
    }

    private static Reply choose(Imaginer imaginer, Turn turn) {
        try {
            Imaginer.Position position = imaginer.imagine(turn, 4, turn.turn());
            Imaginer.State state = position.explore(List.of(), position.worlds() - 1, turn.seat(), 0);
            check(state.legal().get(turn.seat()).equals(turn.legal()), "legal moves: " + state.legal());
            check(state.view().equals(turn.view()), "view: " + state.view());
            check(java.util.Objects.equals(state.turnsLeft(), turn.turnsLeft()), "turns: " + state.turnsLeft());
            try {
                position.explore(List.of(new Imaginer.SeatMove(turn.seat(), "?")), 0, null, 0);
                check(false, "an illegal move is accepted");
            } catch (Imaginer.RejectedException e) {
                check(e.code().equals("illegal_move"), e.getMessage());
            }
            List<List<Imaginer.SeatMove>> lines = turn.legal().stream()
                    .map(move -> List.of(new Imaginer.SeatMove(turn.seat(), move)))
                    .toList();
            List<double[]> scores = position.playouts(lines, 3, 0);
            int best = 0;
            for (int i = 0; i < scores.size(); i++) {
                best = scores.get(i)[turn.seat()] > scores.get(best)[turn.seat()] ? i : best;
            }
            return Reply.move(turn.legal().get(best));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
