package refereebot

// Reply is what a bot may answer to a turn: a [Move], [Resign], [AcceptDraw] or [Unable].
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

// Unable says that the bot has no move.
type Unable struct {
	Because Inability
	// Info is as in Move.
	Info any
}

// Inability is why a bot has no move.
type Inability string

const (
	// NoLegalMove is a fault: what chooses the moves named none that is legal.
	NoLegalMove Inability = "no_legal_move"
	// Unavailable is an outage: what chooses the moves cannot be reached. The match is void where the organiser trusts bots;
	// elsewhere it is a fault.
	Unavailable Inability = "unavailable"
)

type answer struct {
	Type      string    `json:"type"`
	Match     string    `json:"match"`
	Seat      int       `json:"seat"`
	Turn      *int64    `json:"turn,omitempty"`
	Nonce     string    `json:"nonce,omitempty"`
	Move      *string   `json:"move,omitempty"`
	OfferDraw bool      `json:"offer_draw,omitempty"`
	Because   Inability `json:"because,omitempty"`
	Info      any       `json:"info,omitempty"`
}

func (m Move) to(turn *Turn) answer {
	return answer{
		Type: "move", Match: turn.Match, Seat: turn.Seat, Turn: &turn.Turn, Move: &m.Move, OfferDraw: m.OfferDraw, Info: m.Info,
	}
}

func (Resign) to(turn *Turn) answer {
	return answer{Type: "resign", Match: turn.Match, Seat: turn.Seat}
}

func (AcceptDraw) to(turn *Turn) answer {
	return answer{Type: "accept_draw", Match: turn.Match, Seat: turn.Seat, Turn: &turn.Turn}
}

func (u Unable) to(turn *Turn) answer {
	return answer{
		Type: "unable", Match: turn.Match, Seat: turn.Seat, Turn: &turn.Turn, Because: u.Because, Info: u.Info,
	}
}
