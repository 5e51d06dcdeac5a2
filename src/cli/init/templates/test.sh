#!/bin/sh
# Tests the bot step by step, with matches of every game. Needs `referee` on the PATH.
set -eu
cd "$(dirname "$0")"
@BUILD@
referee check '@COMMAND@'
