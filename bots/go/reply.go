package refereebot

// Reply is what a bot may answer to a turn: a [Move], [Resign] or [AcceptDraw].
type Reply interface {
	to(turn *Turn) answer
}

// Move is a move with optional fields.
type Move struct {
	Move string
	// OfferDraw offers a draw, in games with draws by agreement.
	OfferDraw bool
	// Info describes the search and is recorded. Nil, or an object of at most 4 KiB of JSON.
	Info any
}

// Resign resigns the match.
type Resign struct{}

// AcceptDraw accepts the draw offer.
type AcceptDraw struct{}

type answer struct {
	Type      string  `json:"type"`
	Match     string  `json:"match"`
	Seat      int     `json:"seat"`
	Turn      *int64  `json:"turn,omitempty"`
	Nonce     string  `json:"nonce,omitempty"`
	Move      *string `json:"move,omitempty"`
	OfferDraw bool    `json:"offer_draw,omitempty"`
	Info      any     `json:"info,omitempty"`
}

func (m Move) to(turn *Turn) answer {
	return answer{"move", turn.Match, turn.Seat, &turn.Turn, "", &m.Move, m.OfferDraw, m.Info}
}

func (Resign) to(turn *Turn) answer {
	return answer{Type: "resign", Match: turn.Match, Seat: turn.Seat}
}

func (AcceptDraw) to(turn *Turn) answer {
	return answer{Type: "accept_draw", Match: turn.Match, Seat: turn.Seat, Turn: &turn.Turn}
}
