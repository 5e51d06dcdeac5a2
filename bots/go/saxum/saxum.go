// Package saxum has the view and the moves of Saxum. Dice, rows and columns are numbered from 1.
package saxum

import (
	"fmt"

	"refereebot/internal/forms"
)

// View is the position. Pairs are by seat.
type View struct {
	ToMove    []int    `json:"to_move"`
	Phase     string   `json:"phase"` // six while a six has to be resolved, otherwise field
	Dice      *[2]int  `json:"dice"`  // nil when no roll lies on the table, which no turn shows
	Board     []string `json:"board"` // the rows, in each a letter for each column: 0 and 1 the stones of the seats, . free
	Points    [2]int   `json:"points"`
	Rows      [2]int   `json:"rows"`
	Insurance [2]int   `json:"insurance"` // stones left
	Supply    [2]int   `json:"supply"`    // stones not on the board
}

// Move is a [Reroll], [Turn], [Place], [Score], [Pay] or [Insure].
type Move interface{ fmt.Stringer }

// Reroll rolls a die that shows six again.
type Reroll struct {
	Die int `json:"die"`
}

// Turn turns a die that shows six to a face, for points.
type Turn struct {
	Die  int `json:"die"`
	Face int `json:"face"`
}

// Field is where something happens.
type Field struct {
	Row    int `json:"row"`
	Column int `json:"column"`
}

// Place puts a stone on a free field.
type Place struct{ Field }

// Score scores the group of an own stone.
type Score struct{ Field }

// Pay replaces an enemy stone for points.
type Pay struct{ Field }

// Insure replaces an enemy stone for an insurance stone.
type Insure struct{ Field }

func (m Reroll) String() string { return fmt.Sprint("reroll ", m.Die) }
func (m Turn) String() string   { return fmt.Sprint("turn ", m.Die, " ", m.Face) }
func (m Place) String() string  { return fmt.Sprint("place ", m.Row, " ", m.Column) }
func (m Score) String() string  { return fmt.Sprint("score ", m.Row, " ", m.Column) }
func (m Pay) String() string    { return fmt.Sprint("pay ", m.Row, " ", m.Column) }
func (m Insure) String() string { return fmt.Sprint("insure ", m.Row, " ", m.Column) }

const field = ` ([1-5]) ([1-5])`

func at(g []string) Field { return Field{forms.Int(g[0]), forms.Int(g[1])} }

var moves = []forms.Form[Move]{
	forms.New(`reroll ([12])`, func(g []string) Move { return Reroll{forms.Int(g[0])} }),
	forms.New(`turn ([12]) ([1-5])`, func(g []string) Move { return Turn{forms.Int(g[0]), forms.Int(g[1])} }),
	forms.New(`place`+field, func(g []string) Move { return Place{at(g)} }),
	forms.New(`score`+field, func(g []string) Move { return Score{at(g)} }),
	forms.New(`pay`+field, func(g []string) Move { return Pay{at(g)} }),
	forms.New(`insure`+field, func(g []string) Move { return Insure{at(g)} }),
}

// ReadMove returns what a move says, or an error if it is none.
func ReadMove(text string) (Move, error) { return forms.Read(text, "Saxum", moves) }
