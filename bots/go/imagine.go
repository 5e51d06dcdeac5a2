package refereebot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// positionsKept is the number of positions that referee imagine keeps for a bot.
const positionsKept = 64

// atOnce is the number of requests in a write: their answers must fit into the buffer of a pipe.
const atOnce = 64

// An Imaginer is a running "referee imagine", which answers what the view, the legal moves and the result would be after any
// moves, and plays random continuations. It runs beside the bot, in the bot's time, and knows only the views that the bot
// passes to it. "referee spec imagine" specifies its messages. An Imaginer must not be used concurrently. When [Run] returns, all
// of them are closed.
type Imaginer struct {
	command   *exec.Cmd
	input     io.WriteCloser
	output    *bufio.Reader
	imagined  int
	positions [positionsKept]*Position
	closing   sync.Once
	closed    error
}

// running has the Imaginers that are not closed.
var running = struct {
	sync.Mutex
	imaginers map[*Imaginer]bool
}{imaginers: map[*Imaginer]bool{}}

func closeImaginers() {
	running.Lock()
	var all []*Imaginer
	for imaginer := range running.imaginers {
		all = append(all, imaginer)
	}
	running.Unlock()
	for _, imaginer := range all {
		imaginer.Close()
	}
}

// An ImagineError is the error of a request that was rejected.
type ImagineError struct {
	Code    string `json:"code"` // such as illegal_move
	Message string `json:"message"`
}

func (e *ImagineError) Error() string { return e.Code + ": " + e.Message }

// A SeatMove is a move of a seat.
type SeatMove struct {
	Seat int    `json:"seat"`
	Move string `json:"move"`
}

// A State is a position after some moves.
type State struct {
	// Legal has the legal moves of each seat that decides; it is empty when the game is over.
	Legal map[int][]string
	// View is the view of the seat that was asked for.
	View      json.RawMessage
	TurnsLeft *int    // nil: there is no limit
	Over      *Result // nil unless the game is over
}

// A Result is the result of a game. Ranks count from 1, scores range from 0 to 1, both by seat. Amounts are what each seat gets,
// in the unit of the game; nil in games without them.
type Result struct {
	Ranks   []int     `json:"ranks"`
	Scores  []float64 `json:"scores"`
	Amounts []float64 `json:"amounts"`
	Reason  string    `json:"reason"`
}

// A Position is an imagined position: one or more worlds that agree with what a seat knows. The last 64 of an Imaginer are
// kept.
type Position struct {
	imaginer *Imaginer
	number   int
	// Worlds is the number of worlds; 1 in games without hidden information.
	Worlds int
}

type imagineRequest struct {
	Type      string                     `json:"type"`
	Position  int                        `json:"position"`
	Game      string                     `json:"game,omitempty"`
	Rules     int                        `json:"rules,omitempty"`
	Seats     int                        `json:"seats,omitempty"`
	Options   map[string]json.RawMessage `json:"options,omitempty"`
	Seat      int                        `json:"seat"`
	View      json.RawMessage            `json:"view,omitempty"`
	TurnsLeft *int                       `json:"turns_left,omitempty"`
	Worlds    int                        `json:"worlds,omitempty"`
	World     *int                       `json:"world,omitempty"`
	Moves     []SeatMove                 `json:"moves,omitempty"`
	Count     int                        `json:"count,omitempty"`
	Seed      int64                      `json:"seed"`
	ViewOf    *int                       `json:"view_of,omitempty"`
}

type imagineAnswer struct {
	Type      string `json:"type"`
	Worlds    int    `json:"worlds"`
	Decisions []struct {
		Seat  int      `json:"seat"`
		Legal []string `json:"legal"`
	} `json:"decisions"`
	View      json.RawMessage `json:"view"`
	TurnsLeft *int            `json:"turns_left"`
	Over      *Result         `json:"over"`
	Scores    []float64       `json:"scores"`
	ImagineError
}

// NewImaginer starts the program; an empty path stands for the one that the environment variable REFEREE names, or for
// "referee" on the PATH. The games are directories of games whose rules are programs, beside the games of the referee.
func NewImaginer(program string, games ...string) (*Imaginer, error) {
	if program == "" {
		program = os.Getenv("REFEREE")
	}
	if program == "" {
		program = "referee"
	}
	words := []string{"imagine"}
	for _, game := range games {
		words = append(words, "--game", game)
	}
	command := exec.Command(program, words...)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w: install referee, or name its program in REFEREE", program, err)
	}
	imaginer := &Imaginer{command: command, input: input, output: bufio.NewReader(output)}
	running.Lock()
	defer running.Unlock()
	running.imaginers[imaginer] = true
	return imaginer, nil
}

// Close ends the program. Further calls return what the first one did.
func (im *Imaginer) Close() error {
	im.closing.Do(func() {
		running.Lock()
		delete(running.imaginers, im)
		running.Unlock()
		im.input.Close()
		im.closed = im.command.Wait()
	})
	return im.closed
}

// Imagine samples worlds, 1 to 256, that agree with what the seat of a turn knows. The same seed gives the same worlds.
func (im *Imaginer) Imagine(turn *Turn, worlds int, seed int64) (*Position, error) {
	number := im.imagined % positionsKept
	answers, err := im.ask(imagineRequest{
		Type: "imagine", Position: number, Game: turn.Start.Game, Rules: turn.Start.Rules,
		Seats: len(turn.Start.Seats), Options: turn.Start.Options, Seat: turn.Seat, View: turn.View,
		TurnsLeft: turn.TurnsLeft, Worlds: worlds, Seed: seed,
	})
	if err != nil {
		return nil, err
	}
	im.imagined++
	position := &Position{im, number, answers[0].Worlds}
	im.positions[number] = position
	return position, nil
}

// Explore returns the position after these moves of all seats in a world, counted from 0, with the view of a seat; -1 stands
// for no view. Dice and shuffles derive from the seed.
func (p *Position) Explore(moves []SeatMove, world int, viewOf int, seed int64) (*State, error) {
	request := imagineRequest{Type: "explore", Position: p.number, Moves: moves, World: &world, Seed: seed}
	if viewOf >= 0 {
		request.ViewOf = &viewOf
	}
	answers, err := p.ask(request)
	if err != nil {
		return nil, err
	}
	answer := answers[0]
	state := &State{map[int][]string{}, answer.View, answer.TurnsLeft, answer.Over}
	for _, decision := range answer.Decisions {
		state.Legal[decision.Seat] = decision.Legal
	}
	return state, nil
}

// Playouts plays random continuations after each of these lines of moves, each in a world drawn at random. It returns the mean
// score of each seat for each line.
func (p *Position) Playouts(lines [][]SeatMove, count int, seed int64) ([][]float64, error) {
	requests := make([]imagineRequest, len(lines))
	for i, moves := range lines {
		requests[i] = imagineRequest{Type: "playouts", Position: p.number, Moves: moves, Count: count, Seed: seed}
	}
	answers, err := p.ask(requests...)
	scores := make([][]float64, len(answers))
	for i, answer := range answers {
		scores[i] = answer.Scores
	}
	return scores, err
}

func (p *Position) ask(requests ...imagineRequest) ([]imagineAnswer, error) {
	if p.imaginer.positions[p.number] != p {
		return nil, fmt.Errorf("this position was replaced: %d newer ones have been imagined", positionsKept)
	}
	return p.imaginer.ask(requests...)
}

func (im *Imaginer) ask(requests ...imagineRequest) ([]imagineAnswer, error) {
	var answers []imagineAnswer
	var rejected error
	for len(requests) > 0 {
		first := requests
		if len(first) > atOnce {
			first = first[:atOnce]
		}
		requests = requests[len(first):]
		var lines []byte
		for _, request := range first {
			line, err := json.Marshal(request)
			if err != nil {
				return nil, err
			}
			lines = append(append(lines, line...), '\n')
		}
		if _, err := im.input.Write(lines); err != nil {
			return nil, fmt.Errorf("referee imagine has ended: %w", err)
		}
		for range first {
			line, err := im.output.ReadBytes('\n')
			if err != nil {
				return nil, fmt.Errorf("referee imagine has ended: %w", err)
			}
			var answer imagineAnswer
			if err := json.Unmarshal(line, &answer); err != nil {
				return nil, err
			}
			if answer.Type == "error" && rejected == nil {
				rejected = &answer.ImagineError
			}
			answers = append(answers, answer)
		}
	}
	if rejected != nil {
		return nil, rejected
	}
	return answers, nil
}
