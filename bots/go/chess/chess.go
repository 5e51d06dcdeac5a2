// Package chess has the view and the moves of chess. Squares are a1 to h8, seat 0 is White.
package chess

import (
	"fmt"

	"refereebot/internal/forms"
)

// View is the position.
type View struct {
	ToMove      []int    `json:"to_move"`
	Board       string   `json:"board"` // a letter for each square from a8 to h8, then a7 to h7, to h1: those of FEN, . empty
	FEN         string   `json:"fen"`
	Checks      []string `json:"checks"`      // the squares of the pieces that give check
	Occurrences int      `json:"occurrences"` // how often the position has occurred, including now
	Since       Line     `json:"since"`       // what led here since the last capture, move of a pawn or loss of a castling right
}

// Line is a position and the moves that follow it.
type Line struct {
	FEN   string   `json:"fen"`
	Moves []string `json:"moves"`
}

// AnyMove is a [Move] or a [Promote].
type AnyMove interface{ fmt.Stringer }

// Move goes from a square to another. It is castling, too: the king's move, in Chess960 to the square of its rook.
type Move struct {
	Start  string `json:"start"`
	Target string `json:"target"`
}

// Promote makes a pawn a piece: q, r, b or n.
type Promote struct {
	Start  string `json:"start"`
	Target string `json:"target"`
	Piece  string `json:"piece"`
}

func (m Move) String() string    { return m.Start + m.Target }
func (m Promote) String() string { return m.Start + m.Target + m.Piece }

const square = `([a-h][1-8])`

var moves = []forms.Form[AnyMove]{
	forms.New(square+square, func(g []string) AnyMove { return Move{g[0], g[1]} }),
	forms.New(square+square+`([qrbn])`, func(g []string) AnyMove { return Promote{g[0], g[1], g[2]} }),
}

// ReadMove returns what a move says, or an error if it is none.
func ReadMove(text string) (AnyMove, error) { return forms.Read(text, "chess", moves) }
