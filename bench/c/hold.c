/* Time to create processes or threads that stay: the program of process-cost in docs/PUBLISHED.md,
 * written anew from its description, for `bench/peers`.
 *
 *     hold processes|threads NUMBER
 *
 * Starts that many, each of which only waits for a signal, and prints the nanoseconds of one: from
 * before the first until the last was created, by the raw monotonic clock. Ending them is not
 * timed. */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static double hold_processes(int number)
{
    pid_t *children = calloc(number, sizeof *children);
    int made = 0;
    double start = now();
    for (; made < number; made++) {
        pid_t child = fork();
        if (child == 0)
            for (;;)
                pause();
        if (child < 0)
            break;
        children[made] = child;
    }
    double took = now() - start;
    for (int i = 0; i < made; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < made; i++)
        waitpid(children[i], NULL, 0);
    if (made < number)
        errx(1, "only %d of %d processes", made, number);
    return took;
}

static void *wait_always(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* They end with the program. */
static double hold_threads(int number)
{
    double start = now();
    for (int i = 0; i < number; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_always, NULL) != 0)
            errx(1, "only %d of %d threads", i, number);
    }
    return now() - start;
}

int main(int argc, char **argv)
{
    int number = argc == 3 ? atoi(argv[2]) : 0;
    if (number < 1)
        errx(2, "usage: hold processes|threads NUMBER");
    int processes = strcmp(argv[1], "processes") == 0;
    double took = processes ? hold_processes(number) : hold_threads(number);
    printf("%.1f\n", took / number);
    return 0;
}
