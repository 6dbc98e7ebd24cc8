/* A command that knows how long it took, and a launcher that shares nothing with envtax: the
 * witnesses of `bench/time`.
 *
 * span time MS LOG      is busy until so many ms after it began
 * span work COUNT LOG   does so many rounds of the same work
 * span spawn RUNS PAUSE PROGRAM ARG...   starts a command so often, after so many µs of sleep each
 *                                        time; a line each: ns of wall, of CPU
 *
 * LOG is a file of 8-byte numbers that is there already: how many runs were logged, and for each
 * the clock at the beginning of main and at its very end, and the CPU time until then, in ns. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOG_BYTES = 1 << 16, PER_RUN = 3 };

extern char **environ;

static unsigned long long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static unsigned long long cpu_of(const struct rusage *used)
{
    return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000000ull +
           (used->ru_utime.tv_usec + used->ru_stime.tv_usec) * 1000ull;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int spawn(int runs, int pause_us, char **words)
{
    while (runs-- > 0) {
        struct rusage used;
        int status;
        pid_t pid;
        if (pause_us > 0)
            usleep(pause_us);
        unsigned long long begin = now();
        if (posix_spawn(&pid, words[0], NULL, NULL, words, environ))
            fail(words[0]);
        if (wait4(pid, &status, 0, &used) != pid || status)
            fail("wait4");
        unsigned long long end = now();
        printf("%llu %llu\n", end - begin, cpu_of(&used));
    }
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long long begin = now();
    if (argc > 4 && !strcmp(argv[1], "spawn"))
        return spawn(atoi(argv[2]), atoi(argv[3]), argv + 4);
    if (argc != 4)
        return 2;
    int fd = open(argv[3], O_RDWR);
    if (fd < 0)
        fail(argv[3]);
    unsigned long long *log = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (log == MAP_FAILED)
        fail("mmap");
    volatile unsigned long long value = 1;
    if (!strcmp(argv[1], "time")) {
        unsigned long long until = begin + (unsigned long long)(atof(argv[2]) * 1e6);
        while (now() < until)
            value++;
    } else {
        for (long left = atol(argv[2]); left > 0; left--)
            value = value * 6364136223846793005ull + 1442695040888963407ull;
    }
    unsigned long long *run = log + 1 + PER_RUN * log[0]++;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    run[0] = begin;
    run[2] = cpu_of(&used);
    run[1] = now();
    _exit(0);
}
