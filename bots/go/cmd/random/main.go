// Random plays a random legal move, in any game; it resigns where the game does not list its moves.
package main

import (
	"flag"
	"log"
	"math/rand"
	"time"

	"refereebot"
)

func main() {
	connection := refereebot.Flags(flag.CommandLine)
	seed := flag.Int64("seed", time.Now().UnixNano(), "make the choices repeatable")
	slots := flag.Int("slots", 1, "the matches that are played at once")
	flag.Parse()
	rng := rand.New(rand.NewSource(*seed))
	choose := func(turn *refereebot.Turn) refereebot.Reply {
		if len(turn.Legal) == 0 {
			return refereebot.Resign{}
		}
		return refereebot.Move{Move: turn.Legal[rng.Intn(len(turn.Legal))]}
	}
	// It looks at nothing but the legal moves, so it asks for nothing else.
	hello := refereebot.Hello{Name: "random", Version: "0.1.0", Wants: []string{"legal"}, Slots: *slots}
	if err := refereebot.Run(refereebot.Func(choose), hello, *connection); err != nil {
		log.Fatal(err)
	}
}
