// Package refereebot plays board games for a referee: a bot is a function from a turn to one of its legal moves.
//
//	func main() {
//		connection := refereebot.Flags(flag.CommandLine)
//		flag.Parse()
//		first := func(turn *refereebot.Turn) refereebot.Reply { return refereebot.Move{Move: turn.Legal[0]} }
//		if err := refereebot.Run(refereebot.Func(first), refereebot.Hello{Name: "first"}, *connection); err != nil {
//			log.Fatal(err)
//		}
//	}
package refereebot
