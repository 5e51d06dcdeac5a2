package refereebot

// Bot chooses answers. To handle other messages too, implement [Starter], [Watcher] or [Ender].
//
// All its methods are called from one goroutine. With more than one slot it plays concurrent matches, which Match
// identifies.
type Bot interface {
	// Choose decides on a turn.
	Choose(turn *Turn) Reply
}

// Func is a bot that consists only of its Choose function.
type Func func(turn *Turn) Reply

// Choose calls the function.
func (f Func) Choose(turn *Turn) Reply { return f(turn) }

// Starter prepares for matches. The referee waits until Start returns.
type Starter interface {
	// Start returns a nonce, lower-case hex of at most 64 bytes, or nothing. It is used only if start.Nonce is true.
	Start(start *Start) (nonce string)
}

// Watcher receives events. Without Hello.Push they arrive just before the next turn or the end.
type Watcher interface {
	Event(match string, seat int, event Event)
}

// Ender receives the end of a match.
type Ender interface {
	End(end *End)
}
