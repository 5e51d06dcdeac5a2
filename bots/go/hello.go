package refereebot

import (
	"fmt"
	"regexp"
)

// Hello is how a bot introduces itself. What is left out has its default.
type Hello struct {
	Name    string // 1 to 64 of ASCII letters, digits, '.', '_', '-' and space
	Version string
	Author  string
	Games   []string // what it plays; nil: anything
	Slots   int      // how many matches it plays at once; 0: one
	Wants   []string // of "view", "legal", "event"; nil: all, empty: none
	Push    bool     // events come at once instead of with the turn
}

type introduction struct {
	Type     string    `json:"type"`
	Protocol int       `json:"protocol"`
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	Author   string    `json:"author,omitempty"`
	Token    string    `json:"token,omitempty"`
	Games    []string  `json:"games,omitempty"`
	Slots    int       `json:"slots,omitempty"`
	Wants    *[]string `json:"wants,omitempty"`
	Push     bool      `json:"push,omitempty"`
}

func (h Hello) message(token string) introduction {
	message := introduction{"hello", 1, h.Name, h.Version, h.Author, token, h.Games, h.Slots, nil, h.Push}
	if h.Wants != nil {
		message.Wants = &h.Wants
	}
	return message
}

var names = regexp.MustCompile(`^[A-Za-z0-9._ -]{1,64}$`)

// check refuses here, with a reason, what the referee would refuse after its start-up limit.
func (h Hello) check() error {
	if !names.MatchString(h.Name) {
		return fmt.Errorf("name %q: must be 1 to 64 of ASCII letters, digits, '.', '_', '-' and space", h.Name)
	}
	if h.Slots < 0 {
		return fmt.Errorf("slots %d: must not be negative", h.Slots)
	}
	for _, part := range h.Wants {
		if part != "view" && part != "legal" && part != "event" {
			return fmt.Errorf("wants %q: must be among view, legal, event", part)
		}
	}
	return nil
}
