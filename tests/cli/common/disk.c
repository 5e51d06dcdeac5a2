/* Preloaded, makes every write to the files below the folder $SLOW_DISK take 200 ms, and bringing them to the disk too;
   writes to the files below the folder $FULL_DISK fail while a file $FULL_DISK.full exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whether a file is below a folder. */
static int is_below(int fd, const char *folder) {
    struct stat about;
    if (!folder || fstat(fd, &about) != 0 || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static void wait_for_disk(int fd) {
    if (!is_below(fd, getenv("SLOW_DISK"))) return;
    struct timespec time = {0, 200 * 1000 * 1000};
    nanosleep(&time, NULL);
}

static int is_full(int fd) {
    const char *folder = getenv("FULL_DISK");
    if (!is_below(fd, folder)) return 0;
    char mark[4096];
    snprintf(mark, sizeof mark, "%s.full", folder);
    if (access(mark, F_OK) != 0) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = dlsym(RTLD_NEXT, "write");
    if (is_full(fd)) return -1;
    wait_for_disk(fd);
    return next(fd, bytes, length);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    static ssize_t (*next)(int, const void *, size_t, off64_t);
    if (!next) next = dlsym(RTLD_NEXT, "pwrite64");
    if (is_full(fd)) return -1;
    wait_for_disk(fd);
    return next(fd, bytes, length, at);
}

int fsync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fsync");
    wait_for_disk(fd);
    return next(fd);
}

int fdatasync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fdatasync");
    wait_for_disk(fd);
    return next(fd);
}
