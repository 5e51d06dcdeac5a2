// Claims plays Jeex: it claims when that is right, keeps the opponent from it, and captures. In other games it plays at
// random.
package main

import (
	"flag"
	"log"
	"math/rand"
	"time"

	"refereebot"
	"refereebot/jeex"
)

// What positions are worth after the own move.
const (
	won      = 1000
	threat   = 20 // to claim with the next move
	danger   = 100
	captured = 10
	attack   = 1 // for each stone that attacks the centre
)

// The steps of the compass in files and ranks.
var compass = map[string][2]int{
	"N": {0, 1}, "NE": {1, 1}, "E": {1, 0}, "SE": {1, -1}, "S": {0, -1}, "SW": {-1, -1}, "W": {-1, 0}, "NW": {-1, 1},
}

// attackers counts the stones of a seat whose next cell is the centre, c2.
func attackers(stones map[string]jeex.Stone, seat int) (count int) {
	for field, stone := range stones {
		step := compass[stone.Direction]
		if stone.Owner == seat && int(field[0])+step[0] == 'c' && int(field[1])+step[1] == '2' {
			count++
		}
	}
	return count
}

func value(view *jeex.View, seat int, move jeex.Move) int {
	stones := map[string]jeex.Stone{}
	for field, stone := range view.Stones {
		stones[field] = stone
	}
	worth := 0
	switch move := move.(type) {
	case jeex.Claim:
		if attackers(stones, seat) > 0 && attackers(stones, 1-seat) == 0 {
			return won
		}
		return -won
	case jeex.Place:
		stones[move.Field] = jeex.Stone{Owner: seat, Direction: move.Direction}
	case jeex.Rotate:
		stones[move.Field] = jeex.Stone{Owner: seat, Direction: move.Direction}
	case jeex.Capture:
		stones[move.Target] = stones[move.Field]
		delete(stones, move.Field)
		worth += captured
	}
	own, enemy := attackers(stones, seat), attackers(stones, 1-seat)
	switch {
	case own > 0 && enemy == 0:
		worth += threat
	case own == 0 && enemy > 0:
		worth -= danger
	}
	return worth + attack*(own-enemy)
}

func main() {
	connection := refereebot.Flags(flag.CommandLine)
	seed := flag.Int64("seed", time.Now().UnixNano(), "make the choices repeatable")
	slots := flag.Int("slots", 1, "the matches that are played at once")
	flag.Parse()
	rng := rand.New(rand.NewSource(*seed))
	choose := func(turn *refereebot.Turn) refereebot.Reply {
		best := turn.Legal
		if turn.Start.Game == "jeex" {
			best = bestOf(turn)
		}
		return refereebot.Move{Move: best[rng.Intn(len(best))]}
	}
	hello := refereebot.Hello{Name: "claims", Version: "0.1.0", Wants: []string{"view", "legal"}, Slots: *slots}
	if err := refereebot.Run(refereebot.Func(choose), hello, *connection); err != nil {
		log.Fatal(err)
	}
}

func bestOf(turn *refereebot.Turn) (best []string) {
	var view jeex.View
	if err := turn.ReadView(&view); err != nil {
		log.Fatal(err)
	}
	highest := -2 * won
	for _, text := range turn.Legal {
		move, err := jeex.ReadMove(text)
		if err != nil {
			log.Fatal(err)
		}
		worth := value(&view, turn.Seat, move)
		if worth > highest {
			best, highest = nil, worth
		}
		if worth == highest {
			best = append(best, text)
		}
	}
	return best
}
