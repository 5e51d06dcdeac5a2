"""Lists the private keys of the system, which are beside its certificates."""

import os

from _attack import attempt, play

FOLDERS = ["/etc/ssl/private", "/etc/pki/tls/private"]

attempt("list private keys of the system", lambda: os.listdir(next(filter(os.path.isdir, FOLDERS), FOLDERS[0])))
play()
