// Package xequeo has the view and the moves of Xe Queo!. Squares are a1 to g7, pawns are named by colour and are neutral.
package xequeo

import (
	"encoding/json"
	"fmt"
	"strings"

	"refereebot/internal/forms"
)

// Pawns are all of them.
var Pawns = []string{"red", "orange", "yellow", "green", "blue", "purple", "black"}

// View is the position as a seat may see it. Pairs are by seat.
type View struct {
	Round     int               `json:"round"` // from 1
	Phase     string            `json:"phase"` // ring, choose, play or over
	ToMove    []int             `json:"to_move"`
	Rings     [2]int            `json:"rings"`  // what each seat has won
	Pawns     map[string]string `json:"pawns"`  // the square of each
	Ring      *string           `json:"ring"`   // its square; nil until it is placed
	Choice    *string           `json:"choice"` // the pawn that the viewer has chosen in secret; nil before that
	Moves     []Moved           `json:"moves"`  // those of this round
	LastRound *LastRound        `json:"last_round"`
}

// Moved is a move of this round: seat, pawn and final square.
type Moved struct {
	Seat         int
	Pawn, Square string
}

// UnmarshalJSON reads the triple used in a view.
func (m *Moved) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&m.Seat, &m.Pawn, &m.Square})
}

// MarshalJSON writes it again.
func (m Moved) MarshalJSON() ([]byte, error) { return json.Marshal([]any{m.Seat, m.Pawn, m.Square}) }

// LastRound is how the round before ended.
type LastRound struct {
	Winner  int       `json:"winner"`
	Choices [2]string `json:"choices"`
	Reason  string    `json:"reason"` // entered, entered_rival, accused or accused_wrongly
}

// AnyMove is a [Ring], [Choose], [Move] or [Accuse].
type AnyMove interface{ fmt.Stringer }

// Ring puts the ring on a square.
type Ring struct {
	Square string `json:"square"`
}

// Choose chooses a pawn in secret.
type Choose struct {
	Pawn string `json:"pawn"`
}

// Move moves a pawn to a square; its path is not part of the message.
type Move struct {
	Pawn   string `json:"pawn"`
	Square string `json:"square"`
}

// Accuse names the pawn that the opponent has chosen.
type Accuse struct {
	Pawn string `json:"pawn"`
}

func (m Ring) String() string   { return "ring " + m.Square }
func (m Choose) String() string { return "choose " + m.Pawn }
func (m Move) String() string   { return "move " + m.Pawn + " " + m.Square }
func (m Accuse) String() string { return "accuse " + m.Pawn }

const square = `([a-g][1-7])`

var (
	pawn  = `(` + strings.Join(Pawns, `|`) + `)`
	moves = []forms.Form[AnyMove]{
		forms.New(`ring `+square, func(g []string) AnyMove { return Ring{g[0]} }),
		forms.New(`choose `+pawn, func(g []string) AnyMove { return Choose{g[0]} }),
		forms.New(`move `+pawn+` `+square, func(g []string) AnyMove { return Move{g[0], g[1]} }),
		forms.New(`accuse `+pawn, func(g []string) AnyMove { return Accuse{g[0]} }),
	}
)

// ReadMove returns what a move says, or an error if it is none.
func ReadMove(text string) (AnyMove, error) { return forms.Read(text, "Xe Queo!", moves) }
