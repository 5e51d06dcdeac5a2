package refereebot

// Bot decides. One that sees more than its turns is a [Starter], a [Watcher] or an [Ender] as well.
//
// All its methods are called from one goroutine. With more than one slot it plays several matches at once, which Match
// tells apart.
type Bot interface {
	// Choose decides on a turn.
	Choose(turn *Turn) Reply
}

// Func is a bot that is nothing but its Choose.
type Func func(turn *Turn) Reply

// Choose calls the function.
func (f Func) Choose(turn *Turn) Reply { return f(turn) }

// Starter prepares for matches; the referee waits for the return.
type Starter interface {
	// Start returns a nonce, lower-case hex of at most 64 bytes, or nothing. It counts only where start.Nonce is true.
	Start(start *Start) (nonce string)
}

// Watcher sees what happens when it is told, which without Hello.Push is just before the next turn or the end.
type Watcher interface {
	Event(match string, seat int, event Event)
}

// Ender is told when a match is over.
type Ender interface {
	End(end *End)
}
