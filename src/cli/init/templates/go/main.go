// Command mybot is a bot for any game of the referee.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"time"
)

// Message holds the fields that the bot reads.
type Message struct {
	Type  string          `json:"type"`
	Match string          `json:"match"`
	Seat  int             `json:"seat"`
	Turn  int             `json:"turn"`
	View  json.RawMessage `json:"view"` // the position
	Legal []string        `json:"legal"`
}

func choose(turn *Message) string {
	return turn.Legal[rand.Intn(len(turn.Legal))]
}

func main() {
	rand.Seed(time.Now().UnixNano() + int64(os.Getpid()))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20+1) // the longest line of the referee has 1 MiB
	for lines.Scan() {
		var message Message
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			log.Fatal(err)
		}
		answer := map[string]any{"match": message.Match, "seat": message.Seat}
		switch message.Type {
		case "hello":
			answer = map[string]any{"type": "hello", "protocol": 1, "name": "@NAME@"}
		case "start":
			answer["type"] = "ready"
		case "turn":
			answer["type"], answer["turn"], answer["move"] = "move", message.Turn, choose(&message)
		case "error":
			fmt.Fprintln(os.Stderr, lines.Text())
			continue
		case "bye":
			return
		default:
			continue
		}
		line, err := json.Marshal(answer)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(line))
	}
}
