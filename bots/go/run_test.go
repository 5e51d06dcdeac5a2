package refereebot_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"refereebot"
)

// What the test program is when it is started as a bot.
var bots = map[string]refereebot.Func{
	"loud": func(turn *refereebot.Turn) refereebot.Reply {
		fmt.Println("loud")
		return refereebot.Move{Move: turn.Legal[0]}
	},
	"nothing": func(*refereebot.Turn) refereebot.Reply { return nil },
}

func TestMain(m *testing.M) {
	bot, ok := bots[os.Getenv("BOT")]
	if !ok {
		os.Exit(m.Run())
	}
	if err := refereebot.Run(bot, refereebot.Hello{Name: "bot"}, refereebot.Connection{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("after")
}

const oneTurn = `{"type":"start","match":"m1","game":"checkers","rules":1,"seat":0,"seats":[],"clock":null}
{"type":"turn","match":"m1","seat":0,"turn":0,"legal":["a"],"clock":null}
`

func start(bot string, stdout io.Writer) (stderr string, err error) {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), "BOT="+bot)
	var errors bytes.Buffer
	process.Stdin, process.Stdout, process.Stderr = strings.NewReader(oneTurn), stdout, &errors
	err = process.Run()
	return errors.String(), err
}

func TestWhatTheBotPrintsDoesNotReachTheReferee(t *testing.T) {
	var stdout bytes.Buffer
	stderr, err := start("loud", &stdout)
	if err != nil || stderr != "loud\nafter\n" || strings.Count(stdout.String(), "\n") != 2 {
		t.Error(err, stderr, stdout.String())
	}
}

func TestAForgottenReplyEndsTheBotWithAReason(t *testing.T) {
	if stderr, err := start("nothing", io.Discard); err == nil || !strings.Contains(stderr, "Choose returned nil") {
		t.Error(err, stderr)
	}
}

func TestARefereeThatReadsNoMoreEndsTheBotWithStatus0(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	if stderr, err := start("loud", writer); err != nil {
		t.Error(err, stderr)
	}
}
