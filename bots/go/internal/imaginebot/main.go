// Imaginebot compares every turn with the position that "referee imagine" has, then plays the best of its playouts. It is run
// by tests/cli/imagine.rs.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"os"
	"reflect"
	"strings"

	"refereebot"
)

func main() {
	connection := refereebot.Flags(flag.CommandLine)
	flag.Parse()
	_, err := refereebot.NewImaginer("/no/such/referee")
	check(err != nil && strings.Contains(err.Error(), "REFEREE"), "no program: ", err)
	var games []string
	if game := os.Getenv("IMAGINE_GAME"); game != "" {
		games = append(games, game)
	}
	imaginer, err := refereebot.NewImaginer("", games...)
	check(err == nil, err)
	choose := func(turn *refereebot.Turn) refereebot.Reply {
		return refereebot.Move{Move: turn.Legal[best(imaginer, turn)]}
	}
	hello := refereebot.Hello{Name: "imagine", Wants: []string{"view", "legal"}}
	if err := refereebot.Run(refereebot.Func(choose), hello, *connection); err != nil {
		log.Fatal(err)
	}
	check(imaginer.Close() == nil, "it does not end")
	_, err = imaginer.Imagine(&refereebot.Turn{Start: &refereebot.Start{}}, 1, 0)
	check(err != nil && strings.Contains(err.Error(), "has ended"), "after its end: ", err)
}

func best(imaginer *refereebot.Imaginer, turn *refereebot.Turn) int {
	position, err := imaginer.Imagine(turn, 4, turn.Turn)
	check(err == nil, err)
	state, err := position.Explore(nil, position.Worlds-1, turn.Seat, 0)
	check(err == nil, err)
	check(reflect.DeepEqual(state.Legal[turn.Seat], turn.Legal), "legal moves: ", state.Legal)
	check(bytes.Equal(compact(state.View), compact(turn.View)), "view: ", string(state.View))
	check(reflect.DeepEqual(state.TurnsLeft, turn.TurnsLeft), "turns left: ", state.TurnsLeft)
	_, err = position.Explore([]refereebot.SeatMove{{Seat: turn.Seat, Move: "?"}}, 0, -1, 0)
	var rejected *refereebot.ImagineError
	check(errors.As(err, &rejected) && rejected.Code == "illegal_move", "an illegal move: ", err)
	lines := make([][]refereebot.SeatMove, len(turn.Legal))
	for i, move := range turn.Legal {
		lines[i] = []refereebot.SeatMove{{Seat: turn.Seat, Move: move}}
	}
	scores, err := position.Playouts(lines, 3, 0)
	check(err == nil, err)
	best := 0
	for i := range scores {
		if scores[i][turn.Seat] > scores[best][turn.Seat] {
			best = i
		}
	}
	return best
}

func compact(value json.RawMessage) []byte {
	var out bytes.Buffer
	check(json.Compact(&out, value) == nil, "no JSON: ", string(value))
	return out.Bytes()
}

func check(holds bool, values ...any) {
	if !holds {
		log.Fatal(values...)
	}
}
