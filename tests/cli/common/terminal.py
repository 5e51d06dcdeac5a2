"""Runs a command on a terminal of its own and copies what it shows to standard output; ends with its exit code.

    terminal.py [--after TEXT --type KEYS] COMMAND...

KEYS (with \\x03 for Ctrl-C) are typed once TEXT has been shown.
"""

import argparse
import os
import pty
import signal
import sys
import termios

parser = argparse.ArgumentParser()
parser.add_argument("--after", default="")
parser.add_argument("--type", default="")
parser.add_argument("command", nargs=argparse.REMAINDER)
args = parser.parse_args()
keys = args.type.encode().decode("unicode_escape").encode()

signal.alarm(100)
child, terminal = pty.fork()
if child == 0:
    termios.tcsetwinsize(0, (40, 100))
    os.execvp(args.command[0], args.command)

shown = b""
while True:
    try:
        got = os.read(terminal, 65536)
    except OSError:  # Linux: no process has the terminal open any more
        break
    if not got:
        break
    os.write(1, got)
    shown += got
    if keys and args.after.encode() in shown:
        os.write(terminal, keys)
        keys = b""
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
