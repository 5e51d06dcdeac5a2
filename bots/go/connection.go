package refereebot

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Connection specifies how a bot connects to its referee, by default over stdin and stdout.
type Connection struct {
	Address   string // HOST:PORT for TCP
	TLS       bool
	CA        string // a file of certificates (PEM) to trust instead of those of the system
	TokenFile string // where the token is, if not in the environment variable REFEREE_TOKEN
	Name      string // overrides the bot's name
}

// Flags defines the flags of a connection, which are set when the flags have been parsed.
func Flags(set *flag.FlagSet) *Connection {
	c := new(Connection)
	set.StringVar(&c.Address, "connect", "", "play over TCP with the referee at `HOST:PORT`, not over stdin and stdout")
	set.BoolVar(&c.TLS, "tls", false, "encrypt, and verify the referee's certificate")
	set.StringVar(&c.CA, "ca", "", "trust the certificates in this `file` (PEM), not those of the system")
	set.StringVar(&c.TokenFile, "token-file", "", "the `file` with the token, if it is not in REFEREE_TOKEN")
	set.StringVar(&c.Name, "name", "", "the bot's `name`")
	return c
}

func (c Connection) token() (string, error) {
	if c.TokenFile == "" {
		return strings.TrimSpace(os.Getenv("REFEREE_TOKEN")), nil
	}
	text, err := os.ReadFile(c.TokenFile)
	return strings.TrimSpace(string(text)), err
}

func (c Connection) open() (io.ReadWriteCloser, error) {
	if c.Address == "" {
		return takeStdio(), nil
	}
	if !c.TLS {
		return net.Dial("tcp", c.Address)
	}
	config := new(tls.Config)
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: no certificate in it", c.CA)
		}
	}
	return tls.Dial("tcp", c.Address, config)
}

type stdio struct {
	io.Reader
	io.WriteCloser
}

// takeStdio reserves stdout for messages and redirects other output to stderr.
func takeStdio() io.ReadWriteCloser {
	signal.Ignore(syscall.SIGPIPE) // a referee that reads no more is the end, not a crash
	stdout := os.Stdout
	os.Stdout = os.Stderr
	return stdio{os.Stdin, stdout}
}
