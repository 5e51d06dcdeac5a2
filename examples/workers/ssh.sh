#!/bin/sh
# Starts a worker on each of these machines, and waits until the run is over:
#   ./ssh.sh coordinator.example:4711 cup/workers.token box1 box2 box3
# Each machine needs `referee` in its PATH.
set -eu
address=$1 token_file=$2
shift 2
for machine in "$@"; do
    # The token travels on standard input, so that no other user of the machine sees it.
    # shellcheck disable=SC2029
    ssh "$machine" "umask 077 && cat > workers.token && exec referee worker --connect '$address' --token-file workers.token --name '$machine' --until-empty" < "$token_file" &
done
wait
