// Package jeex has the view and the moves of Jeex. Fields are a1 to e3 but for the centre c2, seat 0 is White.
package jeex

import (
	"encoding/json"
	"fmt"

	"refereebot/internal/forms"
)

// View is the position.
type View struct {
	ToMove     []int            `json:"to_move"`
	Phase      string           `json:"phase"`  // opening until both first stones are placed, then play
	Stones     map[string]Stone `json:"stones"` // by field
	Supply     [2]int           `json:"supply"` // what each seat can still place
	Removed    int              `json:"removed"`
	QuietPlies int              `json:"quiet_plies"` // rotations in a row
}

// Stone is a stone on the board.
type Stone struct {
	Owner     int    // the seat
	Direction string // N, NE, E, SE, S, SW, W or NW
}

// UnmarshalJSON reads the pair used in a view.
func (s *Stone) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&s.Owner, &s.Direction})
}

// MarshalJSON writes it again.
func (s Stone) MarshalJSON() ([]byte, error) { return json.Marshal([]any{s.Owner, s.Direction}) }

// Move is a [Place], [Rotate], [Capture] or [Claim].
type Move interface{ fmt.Stringer }

// Place puts a stone on a field.
type Place struct {
	Field     string `json:"field"`
	Direction string `json:"direction"`
}

// Rotate turns an own stone.
type Rotate struct {
	Field     string `json:"field"`
	Direction string `json:"direction"`
}

// Capture takes the stone on the target with the one on the field.
type Capture struct {
	Field  string `json:"field"`
	Target string `json:"target"`
}

// Claim claims Jeex.
type Claim struct{}

func (m Place) String() string   { return "place " + m.Field + " " + m.Direction }
func (m Rotate) String() string  { return "rotate " + m.Field + " " + m.Direction }
func (m Capture) String() string { return "capture " + m.Field + " " + m.Target }
func (Claim) String() string     { return "claim" }

const (
	field     = `([abde][123]|c[13])`
	direction = `(N|NE|E|SE|S|SW|W|NW)`
)

var moves = []forms.Form[Move]{
	forms.New(`place `+field+` `+direction, func(g []string) Move { return Place{g[0], g[1]} }),
	forms.New(`rotate `+field+` `+direction, func(g []string) Move { return Rotate{g[0], g[1]} }),
	forms.New(`capture `+field+` `+field, func(g []string) Move { return Capture{g[0], g[1]} }),
	forms.New(`claim`, func([]string) Move { return Claim{} }),
}

// ReadMove returns what a move says, or an error if it is none.
func ReadMove(text string) (Move, error) { return forms.Read(text, "Jeex", moves) }
