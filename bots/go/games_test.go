package refereebot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"refereebot/checkers"
	"refereebot/chess"
	"refereebot/jeex"
	"refereebot/keezen"
	"refereebot/saxum"
	"refereebot/xequeo"
)

type game struct {
	view func() any
	read func(text string) (fmt.Stringer, error)
}

var games = map[string]game{
	"checkers": {func() any { return new(checkers.View) }, func(t string) (fmt.Stringer, error) { return checkers.ReadMove(t) }},
	"chess":    {func() any { return new(chess.View) }, func(t string) (fmt.Stringer, error) { return chess.ReadMove(t) }},
	"jeex":     {func() any { return new(jeex.View) }, func(t string) (fmt.Stringer, error) { return jeex.ReadMove(t) }},
	"saxum":    {func() any { return new(saxum.View) }, func(t string) (fmt.Stringer, error) { return saxum.ReadMove(t) }},
	"xe_queo":  {func() any { return new(xequeo.View) }, func(t string) (fmt.Stringer, error) { return xequeo.ReadMove(t) }},
	"keezen":   {func() any { return new(keezen.View) }, func(t string) (fmt.Stringer, error) { return keezen.ReadMove(t) }},
}

type vector struct {
	Game string
	Move string
	View json.RawMessage
	Read json.RawMessage
}

func vectors(t *testing.T, name string) (all []vector) {
	text, err := os.ReadFile("../vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var v vector
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// plain returns what a value looks like as JSON, however its fields are ordered.
func plain(t *testing.T, value any) (read any) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestMovesAreReadAndWritten(t *testing.T) {
	for _, v := range vectors(t, "moves.jsonl") {
		move, err := games[v.Game].read(v.Move)
		if string(v.Read) == "null" {
			if err == nil {
				t.Errorf("%s: %q is read as %v", v.Game, v.Move, move)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		fields := plain(t, move).(map[string]any)
		fields["kind"] = strings.ToLower(reflect.TypeOf(move).Name())
		if expected := plain(t, v.Read); !reflect.DeepEqual(fields, expected) {
			t.Errorf("%s: %q is read as %v, not %v", v.Game, v.Move, fields, expected)
		}
		if move.String() != v.Move {
			t.Errorf("%s: %q is written as %q", v.Game, v.Move, move)
		}
	}
}

func TestViewsAreRead(t *testing.T) {
	for _, v := range vectors(t, "views.jsonl") {
		expected := v.Read
		if expected == nil {
			expected = v.View
		}
		view := games[v.Game].view()
		if err := json.Unmarshal(v.View, view); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain(t, view), plain(t, expected)) {
			t.Errorf("%s: %s is read as %+v", v.Game, v.View, view)
		}
	}
}
