// Package keezen has the view and the moves of Keezen. A pawn is named by its position: base, t17 on the track, h0.1 in
// the home of seat 0.
package keezen

import (
	"fmt"

	"refereebot/internal/forms"
)

// View is the position as a seat may see it. Lists of lists, and Cards and Starts, are by seat.
type View struct {
	ToMove     []int            `json:"to_move"`
	Track      int              `json:"track"`  // how many squares it has
	Starts     []int            `json:"starts"` // the start square of each seat
	Pawns      [][]string       `json:"pawns"`  // where those of each seat stand
	Hand       []string         `json:"hand"`   // the viewer's cards; nil for spectators
	Hands      map[int][]string `json:"hands"`  // other hands that the viewer may see, by seat
	Cards      []int            `json:"cards"`  // how many each hand holds
	Dealer     int              `json:"dealer"`
	Cycle      int              `json:"cycle"`
	Deal       int              `json:"deal"`        // 0 to 2 within the cycle
	Pile       []string         `json:"pile"`        // cards played and handed in within this cycle, in order
	PlayingFor *int             `json:"playing_for"` // the seat whose pawns the seat to move plays
}

// Move is an [Enter], [Step], [Split] or [Swap].
type Move interface{ fmt.Stringer }

// Enter brings a pawn from its base onto its start.
type Enter struct {
	Card string `json:"card"`
	Seat *int   `json:"seat,omitempty"` // the partner, when the pawn is the partner's
}

// Step moves one pawn by the worth of the card; a 4 goes backward.
type Step struct {
	Card string `json:"card"`
	Pawn string `json:"pawn"`
}

// Split splits a 7 over two pawns, in this order.
type Split struct {
	Pawn       string `json:"pawn"`
	Steps      int    `json:"steps"`
	Other      string `json:"other"`
	OtherSteps int    `json:"other_steps"`
}

// Swap plays a jack: an own pawn changes places with another player's.
type Swap struct {
	Pawn  string `json:"pawn"`
	Other string `json:"other"`
}

func (m Enter) String() string {
	if m.Seat == nil {
		return m.Card + " enter"
	}
	return fmt.Sprintf("%s enter %d", m.Card, *m.Seat)
}
func (m Step) String() string { return m.Card + " " + m.Pawn }
func (m Split) String() string {
	return fmt.Sprintf("7 %s %d %s %d", m.Pawn, m.Steps, m.Other, m.OtherSteps)
}
func (m Swap) String() string { return "J " + m.Pawn + " " + m.Other }

const (
	track = `(t(?:0|[1-9][0-9]?))`
	pawn  = `(t(?:0|[1-9][0-9]?)|h[0-5]\.[0-3])`
)

var moves = []forms.Form[Move]{
	forms.New(`([AK]) enter`, func(g []string) Move { return Enter{Card: g[0]} }),
	forms.New(`([AK]) enter ([0-5])`, func(g []string) Move {
		seat := forms.Int(g[1])
		return Enter{g[0], &seat}
	}),
	forms.New(`(A|[2-9]|10|Q) `+pawn, func(g []string) Move { return Step{g[0], g[1]} }),
	forms.New(`7 `+pawn+` ([1-6]) `+pawn+` ([1-6])`, func(g []string) Move {
		return Split{g[0], forms.Int(g[1]), g[2], forms.Int(g[3])}
	}),
	forms.New(`J `+track+` `+track, func(g []string) Move { return Swap{g[0], g[1]} }),
}

// ReadMove returns what a move says, or an error if it is none.
func ReadMove(text string) (Move, error) {
	move, err := forms.Read(text, "Keezen", moves)
	if split, ok := move.(Split); ok && split.Steps+split.OtherSteps != 7 {
		return nil, fmt.Errorf("%q is no move of Keezen: a 7 is split into seven steps", text)
	}
	return move, err
}
