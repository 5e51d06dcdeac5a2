package refereebot

import (
	crypto "crypto/rand"
	"encoding/hex"
	"io"
	"log"
	"math/rand"
	"time"
)

const (
	firstDelay       = 500 * time.Millisecond // before the first attempt, doubled with each further one
	mostDelay        = 5 * time.Second        // the referee may be back just before it stops waiting
	reconnectTimeout = time.Minute            // after which the referee does not wait any more
)

// newInstance returns what all connections of this process have in common.
func newInstance() string {
	bytes := make([]byte, 8)
	if _, err := crypto.Read(bytes); err != nil {
		return "" // the matches end with their connection
	}
	return hex.EncodeToString(bytes)
}

// loss is a lost connection.
type loss struct {
	since time.Time
	delay time.Duration
}

func newLoss() *loss {
	log.Print("refereebot: the connection to the referee is lost; connecting again")
	return &loss{time.Now(), firstDelay}
}

// reconnect returns a new connection, or nil if there is none in time.
func (l *loss) reconnect(connection Connection) io.ReadWriteCloser {
	for {
		wait := time.Duration(float64(l.delay) * (0.75 + rand.Float64()/2))
		if time.Since(l.since)+wait > reconnectTimeout {
			log.Printf("refereebot: the referee cannot be reached within %.0f s", reconnectTimeout.Seconds())
			return nil
		}
		time.Sleep(wait)
		l.delay *= 2
		if l.delay > mostDelay {
			l.delay = mostDelay
		}
		if stream, err := connection.open(); err == nil {
			log.Printf("refereebot: connected again after %.1f s", time.Since(l.since).Seconds())
			return stream
		}
	}
}
