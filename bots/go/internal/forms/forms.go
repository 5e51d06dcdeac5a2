// Package forms reads the texts of moves.
package forms

import (
	"fmt"
	"regexp"
	"strconv"
)

// Form is a pattern of a whole text, and what makes a move of the texts of its groups.
type Form[Move any] struct {
	pattern *regexp.Regexp
	make    func(groups []string) Move
}

// New returns a form.
func New[Move any](pattern string, make func(groups []string) Move) Form[Move] {
	return Form[Move]{regexp.MustCompile(`^(?:` + pattern + `)$`), make}
}

// Read returns what the first form that fits makes of a text.
func Read[Move any](text, game string, forms []Form[Move]) (Move, error) {
	for _, form := range forms {
		if groups := form.pattern.FindStringSubmatch(text); groups != nil {
			return form.make(groups[1:]), nil
		}
	}
	var none Move
	return none, fmt.Errorf("%q is no move of %s", text, game)
}

// Int returns the number that a pattern has found.
func Int(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // the pattern allows digits alone
	}
	return n
}
