package refereebot

import (
	"fmt"
	"regexp"
)

// Hello is the bot's hello. Zero values are defaults.
type Hello struct {
	Name    string // 1 to 64 of ASCII letters, digits, '.', '_', '-' and space
	Version string
	Author  string
	Details map[string]string // what identifies how the bot plays, such as its model: at most 32 texts of at most 256 characters
	Games   []string          // the games that the bot plays; nil: any
	Slots   int               // the number of concurrent matches; 0: one
	Wants   []string          // of "view", "legal", "event"; nil: all, empty: none
	Push    bool              // events arrive immediately instead of with the turn
}

type introduction struct {
	Type     string `json:"type"`
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Author   string `json:"author,omitempty"`
	// Recorded, and shown in reports.
	Details map[string]string `json:"details,omitempty"`
	Token   string            `json:"token,omitempty"`
	Games   []string          `json:"games,omitempty"`
	Slots   int               `json:"slots,omitempty"`
	Wants   *[]string         `json:"wants,omitempty"`
	Push    bool              `json:"push,omitempty"`
	// What all connections of the process have in common.
	Reconnect string `json:"reconnect,omitempty"`
}

func (h Hello) message(token, instance string) introduction {
	message := introduction{"hello", 1, h.Name, h.Version, h.Author, h.Details, token, h.Games, h.Slots, nil, h.Push, instance}
	if h.Wants != nil {
		message.Wants = &h.Wants
	}
	return message
}

var names = regexp.MustCompile(`^[A-Za-z0-9._ -]{1,64}$`)

// check reports an invalid hello immediately, instead of after the referee's timeout.
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
