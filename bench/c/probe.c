/* A few operations timed in plain C, asked for over standard input: the independent witness of
 * `bench/by-hand` on Linux; probe-win.c is the one on Windows. They share nothing with envtax.
 *
 * A line `NAME COUNT BATCHES CPU` asks for so many batches of so many operations on that CPU (-1:
 * any). A fresh process answers, as a program that somebody starts would be one: it prepares, does
 * one batch that does not count, and prints the nanoseconds of each phase of each further batch.
 * `quit` ends it.
 *
 * Arguments: `folder=` what the names of folders for files begin with, `via=` the emulator that has
 * to start that process. As pid 1 this is the init of a guest, and powers it off at the end: `tty=`
 * names the terminal to talk over, `tmp=` the filesystem to mount on /tmp. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 64, MOST_BATCHES = 4000 };

static char folder[256], data_path[300], tiny_path[300];
static char block[BLOCK] __attribute__((aligned(4096)));
static int data = -1, to[2], from[2];
static pid_t peer;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static unsigned long long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static void *nothing(void *unused) { return unused; }

static void make_data(void)
{
    data = open(data_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < BLOCKS; i++) {
        for (int j = 0; j < BLOCK; j++)
            block[j] = rand();
        if (write(data, block, BLOCK) != BLOCK)
            fail(data_path);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (pread(data, block, BLOCK, i * BLOCK) != BLOCK)
            fail(data_path);
}

/* Copies the program beside this one to where the files are. */
static void make_tiny(const char *self)
{
    static char source[4200], bytes[1 << 16];
    snprintf(source, sizeof source, "%s-tiny", self);
    int in = open(source, O_RDONLY), out = open(tiny_path, O_WRONLY | O_CREAT, 0700);
    ssize_t got = read(in, bytes, sizeof bytes);
    if (got <= 0 || write(out, bytes, got) != got)
        fail(source);
    close(in);
    close(out);
}

static void make_peer(void)
{
    char byte = 1;
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        fail("pipe");
    peer = fork();
    if (peer == 0) {
        close(to[1]);
        while (read(to[0], &byte, 1) == 1)
            if (write(from[1], &byte, 1) != 1)
                break;
        _exit(0);
    }
    close(to[0]);
    if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
        fail("pipe");
}

/* One batch: its phases, or 0 where there is no such operation. */
static int batch(const char *name, long count, unsigned long long *times)
{
    unsigned long long begin = now(), middle, first = 0, second = 0;
    if (!strcmp(name, "clock")) {
        for (long i = 0; i < count; i++)
            now();
    } else if (!strcmp(name, "getppid")) {
        for (long i = 0; i < count; i++)
            syscall(SYS_getppid);
    } else if (!strcmp(name, "fork")) {
        for (long i = 0; i < count; i++) {
            begin = now();
            pid_t child = fork();
            if (child == 0)
                _exit(0);
            middle = now();
            if (child < 0 || waitpid(child, 0, 0) != child)
                fail("fork");
            first += middle - begin;
            second += now() - middle;
        }
        times[0] = first;
        times[1] = second;
        return 2;
    } else if (!strcmp(name, "exec")) {
        char *words[] = {tiny_path, 0}, *none[] = {0};
        for (long i = 0; i < count; i++) {
            int status = 1;
            pid_t child = fork();
            if (child == 0) {
                execve(tiny_path, words, none);
                _exit(127);
            }
            if (child < 0 || waitpid(child, &status, 0) != child || status)
                fail("exec");
        }
    } else if (!strcmp(name, "thread")) {
        for (long i = 0; i < count; i++) {
            pthread_t thread;
            begin = now();
            if (pthread_create(&thread, 0, nothing, 0))
                fail("thread");
            middle = now();
            pthread_join(thread, 0);
            first += middle - begin;
            second += now() - middle;
        }
        times[0] = first;
        times[1] = second;
        return 2;
    } else if (!strcmp(name, "open")) {
        for (long i = 0; i < count; i++) {
            int fd = syscall(SYS_openat, AT_FDCWD, data_path, O_RDONLY | O_CLOEXEC, 0);
            if (fd < 0)
                fail(data_path);
            close(fd);
        }
    } else if (!strcmp(name, "stat")) {
        struct stat about;
        for (long i = 0; i < count; i++)
            if (syscall(SYS_newfstatat, AT_FDCWD, data_path, &about, 0))
                fail(data_path);
    } else if (!strcmp(name, "read")) {
        for (long i = 0; i < count; i++)
            if (pread(data, block, BLOCK, i % BLOCKS * BLOCK) != BLOCK)
                fail("read");
    } else if (!strcmp(name, "pipe")) {
        char byte = 1;
        for (long i = 0; i < count; i++)
            if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
                fail("pipe");
    } else {
        return 0;
    }
    times[0] = now() - begin;
    return 1;
}

/* The words are the program, `work`, the operation, its count, the batches, the CPU, the folder. */
static void work(char **words)
{
    static unsigned long long times[MOST_BATCHES][2];
    const char *name = words[2];
    long count = atol(words[3]), batches = atol(words[4]), cpu = atol(words[5]);
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0) {
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set))
            fail("sched_setaffinity");
    }
    snprintf(folder, sizeof folder, "%sXXXXXX", words[6]);
    if (batches > MOST_BATCHES || !mkdtemp(folder))
        fail(folder);
    snprintf(data_path, sizeof data_path, "%s/file", folder);
    snprintf(tiny_path, sizeof tiny_path, "%s/tiny", folder);
    if (strstr("open stat read", name))
        make_data();
    if (!strcmp(name, "exec"))
        make_tiny(words[0]);
    if (!strcmp(name, "pipe"))
        make_peer();
    int phases = batch(name, count, times[0]);
    for (long i = 0; phases && i < batches; i++)
        batch(name, count, times[i]);
    printf("@times");
    for (long i = 0; i < batches * phases; i++)
        printf(" %llu", times[i / phases][i % phases]);
    printf("\n");
    unlink(data_path);
    unlink(tiny_path);
    rmdir(folder);
}

static void talk_over(const char *tty)
{
    int fd = -1;
    struct termios mode;
    for (int tries = 0; fd < 0 && tries < 300; tries++, usleep(10000))
        fd = open(tty, O_RDWR | O_NOCTTY);
    if (fd < 0 || tcgetattr(fd, &mode))
        fail(tty);
    cfmakeraw(&mode);
    tcsetattr(fd, TCSANOW, &mode);
    dup2(fd, 0);
    dup2(fd, 1);
}

int main(int argc, char **argv)
{
    char *via = 0, *prefix = "/tmp/by-hand-", line[256], name[64], numbers[3][24];
    int first = getpid() == 1 && access("/proc/self", F_OK) != 0;
    if (argc == 7 && !strcmp(argv[1], "work")) {
        work(argv);
        return 0;
    }
    if (first) {
        mount("proc", "/proc", "proc", 0, 0);
        mount("dev", "/dev", "devtmpfs", 0, 0);
    }
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "via=", 4))
            via = argv[i] + 4;
        if (!strncmp(argv[i], "folder=", 7))
            prefix = argv[i] + 7;
        if (first && !strncmp(argv[i], "tmp=", 4) && mount("tmp", "/tmp", argv[i] + 4, 0, 0))
            fail(argv[i]);
        if (first && !strncmp(argv[i], "tty=", 4))
            talk_over(argv[i] + 4);
    }
    printf("@ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4)) {
        if (sscanf(line, "%63s %23s %23s %23s", name, numbers[0], numbers[1], numbers[2]) != 4)
            continue;
        char *words[] = {via, argv[0], "work", name, numbers[0], numbers[1], numbers[2], prefix, 0};
        pid_t child = fork();
        if (child == 0) {
            char **start = via ? words : words + 1;
            execv(start[0], start);
            _exit(127);
        }
        int status = 1;
        if (waitpid(child, &status, 0) != child || status) {
            printf("@failed %d\n", status);
            fflush(stdout);
        }
    }
    if (first)
        reboot(RB_POWER_OFF);
    return 0;
}
