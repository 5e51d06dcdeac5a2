package refereebot

import "encoding/json"

// Clock is the time control of a match: the delay of each answer is free, the rest comes from the bank. Milliseconds.
type Clock struct {
	DelayMS     int `json:"delay_ms"`
	BankMS      int `json:"bank_ms"`
	IncrementMS int `json:"increment_ms"`
}

// SeatInfo describes a seat: the display name and the number of its side.
type SeatInfo struct {
	Name string `json:"name"`
	Team int    `json:"team"`
}

// Start reports the start of a match in which the bot has Seat.
type Start struct {
	Match   string                     `json:"match"`
	Game    string                     `json:"game"`
	Rules   int                        `json:"rules"` // the version of the game's rules
	Options map[string]json.RawMessage `json:"options"`
	Seat    int                        `json:"seat"`
	Seats   []SeatInfo                 `json:"seats"`
	Clock   *Clock                     `json:"clock"` // nil: there is no limit
	Deal    string                     `json:"deal"`  // empty in a mirrored set
	// Commitment is the SHA-256 commitment to the seed.
	Commitment string `json:"commitment"`
	// Nonce reports whether a nonce is mixed into the randomness of the match.
	Nonce bool `json:"nonce"`
	// Unlisted reports whether the legal moves have no list, or it is hidden: turns may come without Legal.
	Unlisted bool `json:"unlisted"`
}

// Event is something that happened in a match.
type Event struct {
	Kind string
	json []byte
}

// UnmarshalJSON reads an event of any kind.
func (e *Event) UnmarshalJSON(data []byte) error {
	e.json = append([]byte(nil), data...)
	return json.Unmarshal(data, &struct {
		Kind *string `json:"kind"`
	}{&e.Kind})
}

// Read reads the event's fields into a value, as [json.Unmarshal] does.
func (e *Event) Read(into any) error { return json.Unmarshal(e.json, into) }

// TimeLeft is the bank and the total time for an answer. Milliseconds.
type TimeLeft struct {
	BankMS  int `json:"bank_ms"`
	LimitMS int `json:"limit_ms"`
}

// Retry is why the answer to the request Of was rejected.
type Retry struct {
	Of      int64  `json:"of"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Turn is a request for a decision. It is self-contained, so a bot can be stateless.
type Turn struct {
	Match string `json:"match"`
	Seat  int    `json:"seat"`
	Turn  int64  `json:"turn"` // the request's id
	// View is the position as visible to the seat; see ReadView. Nil if Hello.Wants omits it.
	View json.RawMessage `json:"view"`
	// Legal has every legal move, sorted. Nil if Hello.Wants omits it.
	Legal       []string  `json:"legal"`
	Clock       *TimeLeft `json:"clock"`        // nil: there is no limit
	BanksMS     []*int    `json:"banks_ms"`     // the banks of all seats by seat, nil without a clock; nil: no seat has one
	TurnsLeft   *int      `json:"turns_left"`   // nil: there is no limit
	DrawOffered bool      `json:"draw_offered"` // AcceptDraw is an answer too
	Retry       *Retry    `json:"retry"`
	// Start is how this match began.
	Start *Start `json:"-"`
	// Events is what happened in this match since its previous turn.
	Events []Event `json:"-"`
}

// ReadView reads the view into a value, such as a saxum.View.
func (t *Turn) ReadView(into any) error { return json.Unmarshal(t.View, into) }

// Fault is the fault that ended the match, and its seat.
type Fault struct {
	Seat   int    `json:"seat"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Reveal has the inputs of the match's randomness.
type Reveal struct {
	Seed   string   `json:"seed"`
	Salt   string   `json:"salt"`
	Deal   string   `json:"deal"`
	Nonces []string `json:"nonces"`
}

// End reports the end of a match. Ranks count from 1, scores range from 0 to 1, both by seat; nil when it was aborted. Amounts
// are what each seat gets, in the unit of the game; nil in games without them, too.
type End struct {
	Match   string    `json:"match"`
	Seat    int       `json:"seat"`
	Ranks   []int     `json:"ranks"`
	Scores  []float64 `json:"scores"`
	Amounts []float64 `json:"amounts"`
	EndedBy string    `json:"ended_by"`
	Reason  string    `json:"reason"`
	Fault   *Fault    `json:"fault"`
	Reveal  *Reveal   `json:"reveal"`
}
