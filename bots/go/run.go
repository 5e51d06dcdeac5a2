package refereebot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"syscall"
)

// Run plays every match that the referee starts. It returns after the referee's bye or at the end of the input.
//
// If a connection over TCP is lost and the referee offers it, the bot connects again and its matches go on.
// It also connects again if the bye of a league asks for that.
//
// Over stdin and stdout, what the bot prints goes to stderr, which the referee keeps with the match. Run returns an error
// if hello is not what the protocol allows, if the referee cannot be reached or fails TLS verification, if it refuses the
// bot ([Refused]), or if a message cannot be read.
func Run(bot Bot, hello Hello, connection Connection) error {
	defer closeImaginers()
	if connection.Name != "" {
		hello.Name = connection.Name
	}
	if err := hello.check(); err != nil {
		return err
	}
	token, err := connection.token()
	if err != nil {
		return err
	}
	stream, err := connection.open()
	if err != nil {
		return err
	}
	s := &session{bot: bot, hello: hello, token: token, plays: map[place]*play{}}
	if connection.Address != "" {
		s.instance = newInstance()
	}
	var lost *loss
	for stream != nil {
		s.heard = false
		err := s.serve(stream)
		stream.Close()
		if err != nil {
			return err
		}
		if s.over || !s.reconnects {
			break
		}
		if lost == nil || s.heard {
			lost = newLoss()
		}
		stream = lost.reconnect(connection)
	}
	if s.refusal != nil && !s.started {
		return s.refusal
	}
	return nil
}

var byteOrderMark = []byte("\ufeff")

// isLost reports whether an error is the end of a connection.
func isLost(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (s *session) serve(stream io.ReadWriter) error {
	reader := bufio.NewReaderSize(stream, 1<<16)
	for first := true; !s.over; first = false {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF || isLost(err) {
			return nil // the rest is an unterminated line
		}
		if err != nil {
			return err
		}
		if first {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		answer, err := s.handle(line)
		if err != nil {
			return err
		}
		if answer == nil {
			continue
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := stream.Write(append(text, '\n')); errors.Is(err, syscall.EPIPE) || isLost(err) {
			return nil // it reads no more
		} else if err != nil {
			return err
		}
	}
	return nil
}
