// Vectorbot does what bots/vectors/README.md says.
package main

import (
	"flag"
	"log"

	"refereebot"
)

type bot struct{ ended []string }

func (*bot) Start(start *refereebot.Start) string {
	if start.Nonce {
		return "00ff"
	}
	return ""
}

func (b *bot) Choose(turn *refereebot.Turn) refereebot.Reply {
	if turn.DrawOffered {
		return refereebot.AcceptDraw{}
	}
	if turn.Retry != nil {
		return refereebot.Resign{}
	}
	var view struct{ Unable *refereebot.Unable }
	if err := turn.ReadView(&view); err != nil {
		log.Fatal(err)
	}
	if view.Unable != nil {
		return *view.Unable
	}
	info := map[string]any{"game": turn.Start.Game, "events": len(turn.Events), "limit_ms": nil, "ended": b.ended}
	if turn.Clock != nil {
		info["limit_ms"] = turn.Clock.LimitMS
	}
	if turn.BanksMS != nil {
		info["banks_ms"] = turn.BanksMS
	}
	last := turn.TurnsLeft != nil && *turn.TurnsLeft == 1
	move := "unlisted"
	if !turn.Start.Unlisted {
		move = turn.Legal[0]
	}
	return refereebot.Move{Move: move, OfferDraw: last, Info: info}
}

func (b *bot) End(end *refereebot.End) { b.ended = append(b.ended, end.EndedBy) }

func main() {
	connection := refereebot.Flags(flag.CommandLine)
	flag.Parse()
	hello := refereebot.Hello{Name: "vector", Version: "1.0", Details: map[string]string{"kind": "test"}, Slots: 64}
	if err := refereebot.Run(&bot{ended: []string{}}, hello, *connection); err != nil {
		log.Fatal(err)
	}
}
