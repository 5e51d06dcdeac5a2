/* Runs a bot beside a process that writes to the same standard error, a byte at a time and without an end. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (write(2, "x", 1) == 1) usleep(200);
        _exit(0);
    }
    execvp(argv[1], argv + 1);
    return 127;
}
