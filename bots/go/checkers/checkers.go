// Package checkers has the view and the moves of checkers. Squares are numbered 1 to 32, seat 0 is Black.
package checkers

import (
	"fmt"
	"strings"

	"refereebot/internal/forms"
)

// View is the position.
type View struct {
	ToMove     []int  `json:"to_move"`
	Board      string `json:"board"` // a letter for each square from 1: b and w men, B and W kings, . empty
	FEN        string `json:"fen"`   // the same as PDN's FEN
	QuietPlies int    `json:"quiet_plies"`
}

// Move is a [Step] or a [Capture].
type Move interface{ fmt.Stringer }

// Step goes from a square to the next.
type Step struct {
	Path []int `json:"path"`
}

// Capture visits squares.
type Capture struct {
	Path []int `json:"path"`
}

func (m Step) String() string    { return join(m.Path, "-") }
func (m Capture) String() string { return join(m.Path, "x") }

func join(path []int, with string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(path), "[]"), " ", with)
}

func split(text string) (path []int) {
	for _, square := range strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == 'x' }) {
		path = append(path, forms.Int(square))
	}
	return path
}

const square = `(?:[1-9]|[12][0-9]|3[0-2])`

var moves = []forms.Form[Move]{
	forms.New(`(`+square+`-`+square+`)`, func(g []string) Move { return Step{split(g[0])} }),
	forms.New(`(`+square+`(?:x`+square+`)+)`, func(g []string) Move { return Capture{split(g[0])} }),
}

// ReadMove returns what a move says, or an error if it is none.
func ReadMove(text string) (Move, error) { return forms.Read(text, "checkers", moves) }
