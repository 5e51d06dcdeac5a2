package refereebot_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"refereebot"
)

var first = refereebot.Func(func(turn *refereebot.Turn) refereebot.Reply {
	return refereebot.Move{Move: turn.Legal[0]}
})

// talk lets a bot connect, asks it for its token, and returns its answer and what Run returns.
func talk(t *testing.T, connection refereebot.Connection, certificate *tls.Certificate) (map[string]any, error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	connection.Address = "localhost:" + port
	if certificate != nil {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate}})
	}
	said := make(chan map[string]any, 1)
	go func() {
		defer close(said)
		stream, err := listener.Accept()
		if err != nil {
			return
		}
		defer stream.Close()
		stream.Write([]byte(`{"type":"hello","protocol":1,"server":"fake","auth":"token"}` + "\n"))
		var message map[string]any
		if line, err := bufio.NewReader(stream).ReadBytes('\n'); err == nil && json.Unmarshal(line, &message) == nil {
			said <- message
		}
	}()
	err = refereebot.Run(first, refereebot.Hello{Name: "first"}, connection)
	return <-said, err
}

// certify makes a certificate for a host, and a file that names it as an authority.
func certify(t *testing.T, host string) (*tls.Certificate, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func TestTheTokenIsReadFromAFileOrTheEnvironment(t *testing.T) {
	if said, err := talk(t, refereebot.Connection{}, nil); err != nil || said["token"] != nil {
		t.Error(said, err)
	}
	t.Setenv("REFEREE_TOKEN", "from the environment")
	if said, err := talk(t, refereebot.Connection{}, nil); err != nil || said["token"] != "from the environment" {
		t.Error(said, err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := talk(t, refereebot.Connection{TokenFile: file}, nil); err != nil || said["token"] != "from a file" {
		t.Error(said, err)
	}
}

func TestARefereeWithACertificateOfTheNamedAuthorityIsTrusted(t *testing.T) {
	certificate, file := certify(t, "localhost")
	said, err := talk(t, refereebot.Connection{TLS: true, CA: file}, certificate)
	if err != nil || said["name"] != "first" {
		t.Error(said, err)
	}
}

func TestARefereeThatCannotShowWhoItIsIsToldNothing(t *testing.T) {
	certificate, _ := certify(t, "localhost")
	if said, err := talk(t, refereebot.Connection{TLS: true}, certificate); said != nil || !isUntrusted(err) {
		t.Error(said, err)
	}
	certificate, file := certify(t, "elsewhere.example")
	if said, err := talk(t, refereebot.Connection{TLS: true, CA: file}, certificate); said != nil || !isUntrusted(err) {
		t.Error(said, err)
	}
}

func isUntrusted(err error) bool {
	return err != nil && strings.Contains(err.Error(), "x509: certificate")
}

func TestARefereeThatIsNotThereIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	address := listener.Addr().String()
	err = refereebot.Run(first, refereebot.Hello{Name: "first"}, refereebot.Connection{Address: address})
	if err == nil || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

func TestANameThatTheProtocolForbidsIsRefusedAtOnce(t *testing.T) {
	err := refereebot.Run(first, refereebot.Hello{Name: "a/b"}, refereebot.Connection{})
	if err == nil || !strings.Contains(err.Error(), `name "a/b": must be`) {
		t.Error(err)
	}
}
