#!/bin/sh
# Checks the game step by step, with random matches. Needs `referee` on the PATH.
set -eu
cd "$(dirname "$0")"
@BUILD@
referee game check .
