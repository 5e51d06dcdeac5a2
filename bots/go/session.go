package refereebot

import (
	"encoding/json"
	"errors"
	"log"
)

type place struct {
	match string
	seat  int
}

type play struct {
	start     *Start
	ready     any     // the answer to start
	events    []Event // since the previous turn
	nextEvent int64
	asked     *int64 // the last request with its answer, which the referee may not have received
	answer    any
}

// session is a bot's side of the protocol, without any input or output.
type session struct {
	bot   Bot
	hello Hello
	token string
	plays map[place]*play
	over  bool // the referee has said its last bye

	instance   string // what all connections of the process have in common; empty: a match ends with its connection
	reconnects bool   // the matches go on when the connection is lost and the bot connects again
	heard      bool   // there was a message on this connection

	started bool     // a match has started
	refusal *Refused // the referee's error, if it was the last message
}

// Refused is the error of Run when the referee refuses the bot before its first match, as for a wrong token.
type Refused struct {
	Code    string `json:"code"` // of the referee's error, such as wrong_token
	Message string `json:"message"`
}

func (r *Refused) Error() string {
	return "the referee refused the bot: " + r.Code + ": " + r.Message
}

// handle handles a line and returns the answer, nil if it asks for none. What is unknown is ignored.
func (s *session) handle(line []byte) (any, error) {
	var head struct {
		Type  any             `json:"type"`
		Auth  string          `json:"auth"`
		ID    json.RawMessage `json:"id"`
		Match string          `json:"match"`
		Seat  int             `json:"seat"`
		Turn  int64           `json:"turn"`
		N     *int64          `json:"n"`
		Event Event           `json:"event"`

		Reason    string `json:"reason"`
		Reconnect bool   `json:"reconnect"`
		Resumed   bool   `json:"resumed"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		log.Printf("refereebot: skipped a line that is no message: %v", err)
		return nil, nil
	}
	s.heard = true
	at := place{head.Match, head.Seat}
	if head.Type != "bye" {
		s.refusal = nil
	}
	switch head.Type {
	case "hello":
		s.reconnects = head.Reconnect && s.instance != ""
		token, instance := "", ""
		if head.Auth == "token" {
			token = s.token
		}
		if s.reconnects {
			instance = s.instance
		}
		return s.hello.message(token, instance), nil
	case "ping":
		return struct {
			Type string          `json:"type"`
			ID   json.RawMessage `json:"id,omitempty"`
		}{"pong", head.ID}, nil
	case "start":
		if known := s.plays[at]; known != nil && head.Resumed {
			return known.ready, nil
		}
		return s.start(at, line)
	case "error":
		log.Printf("refereebot: error: %s", line)
		s.refusal = new(Refused)
		return nil, json.Unmarshal(line, s.refusal)
	case "bye":
		if s.instance != "" { // over TCP the referee keeps no standard error
			log.Printf("refereebot: the referee closes the connection: %s", head.Reason)
		}
		// Otherwise the connection ends, and the bot connects again.
		s.over = !(s.reconnects && head.Reconnect)
	case "event", "turn", "end":
		playing := s.plays[at]
		switch {
		case playing == nil && head.Type == "end" && s.reconnects:
			// Repeated after a lost connection.
		case playing == nil:
			log.Printf("refereebot: ignored, no such match here: %.200s", line)
		case head.Type == "turn" && playing.asked != nil && *playing.asked == head.Turn:
			return playing.answer, nil
		case head.Type == "turn":
			answer, err := s.turn(playing, line)
			playing.asked, playing.answer = &head.Turn, answer
			return answer, err
		case head.Type == "end":
			return nil, s.end(at, line)
		case head.N != nil && *head.N < playing.nextEvent:
			// Repeated after a lost connection.
		default:
			if head.N != nil {
				playing.nextEvent = *head.N + 1
			}
			playing.events = append(playing.events, head.Event)
			if watcher, ok := s.bot.(Watcher); ok {
				watcher.Event(at.match, at.seat, head.Event)
			}
		}
	}
	return nil, nil
}

func (s *session) start(at place, line []byte) (any, error) {
	start := new(Start)
	if err := json.Unmarshal(line, start); err != nil {
		return nil, err
	}
	s.started = true
	playing := &play{start: start}
	s.plays[at] = playing
	ready := answer{Type: "ready", Match: at.match, Seat: at.seat}
	if starter, ok := s.bot.(Starter); ok {
		ready.Nonce = starter.Start(start)
	}
	playing.ready = ready
	return ready, nil
}

func (s *session) turn(playing *play, line []byte) (any, error) {
	turn := &Turn{Start: playing.start, Events: playing.events}
	playing.events = nil
	if err := json.Unmarshal(line, turn); err != nil {
		return nil, err
	}
	reply := s.bot.Choose(turn)
	if reply == nil {
		return nil, errors.New("the bot's Choose returned nil")
	}
	return reply.to(turn), nil
}

func (s *session) end(at place, line []byte) error {
	delete(s.plays, at)
	end := new(End)
	if err := json.Unmarshal(line, end); err != nil {
		return err
	}
	if ender, ok := s.bot.(Ender); ok {
		ender.End(end)
	}
	return nil
}
