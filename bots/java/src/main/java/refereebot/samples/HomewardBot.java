package refereebot.samples;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import refereebot.Hello;
import refereebot.Referee;
import refereebot.Reply;
import refereebot.Start;
import refereebot.Turn;
import refereebot.games.Keezen;

/**
 * Plays Keezen: the move after which its side's pawns are the farthest on their way home, and those of others are not. In
 * other games it plays at random. {@code --seed N} makes its choices repeatable, {@code --slots N} plays N matches at once.
 */
public final class HomewardBot {
    private static final int BASE = -30; // to bring a pawn out is worth so many steps
    private static final int HOME = 10; // pawns there cannot be captured

    private final Random random;

    private HomewardBot(Random random) {
        this.random = random;
    }

    public static void main(String[] args) throws IOException {
        HomewardBot bot = new HomewardBot(RandomBot.random(args));
        Hello hello = new Hello("homeward").version("0.1.0").wants("view", "legal").slots(RandomBot.slots(args));
        Referee.run(bot::choose, hello, args);
    }

    private Reply choose(Turn turn) {
        List<String> best = turn.legal();
        if (turn.start().game().equals("keezen")) {
            Keezen.View view = turn.view(Keezen.View.class);
            best = new ArrayList<>();
            int highest = Integer.MIN_VALUE;
            for (String text : turn.legal()) {
                Board board = new Board(view);
                board.play(Keezen.read(text), turn.seat());
                int worth = board.worth(turn.start(), turn.seat());
                if (worth > highest) {
                    highest = worth;
                    best.clear();
                }
                if (worth == highest) {
                    best.add(text);
                }
            }
        }
        return Reply.move(best.get(random.nextInt(best.size())));
    }

    /** Where the pawns of each seat stand; a legal move changes it. */
    private static final class Board {
        private final int track;
        private final List<Integer> starts;
        private final int playingFor;
        private final List<List<String>> pawns = new ArrayList<>();

        Board(Keezen.View view) {
            track = view.track();
            starts = view.starts();
            playingFor = view.playingFor();
            view.pawns().forEach(places -> pawns.add(new ArrayList<>(places)));
        }

        void play(Keezen.Move move, int seat) {
            if (move instanceof Keezen.Enter enter) {
                int owner = enter.seat() == null ? playingFor : enter.seat();
                put(owner, "base", "t" + starts.get(owner));
            } else if (move instanceof Keezen.Step step) {
                walk(step.pawn(), steps(step.card()));
            } else if (move instanceof Keezen.Split split) {
                walk(split.pawn(), split.steps());
                walk(split.other(), split.otherSteps());
            } else if (move instanceof Keezen.Swap swap) {
                int own = owner(swap.pawn());
                int other = owner(swap.other());
                pawns.get(own).set(pawns.get(own).indexOf(swap.pawn()), swap.other());
                pawns.get(other).set(pawns.get(other).indexOf(swap.other()), swap.pawn());
            }
        }

        private static int steps(String card) {
            return switch (card) {
                case "A" -> 1;
                case "Q" -> 12;
                case "4" -> -4;
                default -> Integer.parseInt(card);
            };
        }

        private int owner(String place) {
            for (int seat = 0; seat < pawns.size(); seat++) {
                if (pawns.get(seat).contains(place)) {
                    return seat;
                }
            }
            throw new IllegalArgumentException("no pawn on " + place);
        }

        private void walk(String from, int steps) {
            int owner = owner(from);
            int way = way(owner, from) + steps;
            boolean isHome = from.startsWith("h") || (steps > 0 && way >= track);
            int square = Math.floorMod(way + starts.get(owner), track);
            put(owner, from, isHome ? "h" + owner + "." + (way - track) : "t" + square);
        }

        private void put(int owner, String from, String to) {
            pawns.forEach(places -> places.replaceAll(place -> place.equals(to) ? "base" : place));
            pawns.get(owner).set(pawns.get(owner).indexOf(from), to);
        }

        /** How far from its start a pawn is, those at home beyond the track. */
        private int way(int owner, String place) {
            if (place.startsWith("h")) {
                return track + Integer.parseInt(place.substring(place.indexOf('.') + 1));
            }
            return Math.floorMod(Integer.parseInt(place.substring(1)) - starts.get(owner), track);
        }

        int worth(Start start, int seat) {
            int total = 0;
            for (int owner = 0; owner < pawns.size(); owner++) {
                boolean isOurs = start.seats().get(owner).team() == start.seats().get(seat).team();
                for (String place : pawns.get(owner)) {
                    int way = place.equals("base") ? BASE : way(owner, place) + (place.startsWith("h") ? HOME : 0);
                    total += isOurs ? way : -way;
                }
            }
            return total;
        }
    }
}
