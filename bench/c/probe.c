/* A few operations timed in plain C, asked for over standard input: the independent witness of
 * `bench/by-hand`. It shares nothing with envtax. One line `NAME COUNT` asks for a batch, one line
 * of nanoseconds a phase answers; `quit` ends it. As pid 1 it is the init of a guest, whose terminal
 * is named by `tty=` among its arguments, and it powers the guest off at the end. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char data_path[4096];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

#ifdef _WIN32
#include <windows.h>

static unsigned long long now(void)
{
    LARGE_INTEGER count, rate;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&rate);
    return (unsigned long long)(count.QuadPart * 1e9 / rate.QuadPart);
}

static void enter(int argc, char **argv) { (void)argc, (void)argv; }
static void leave(void) {}

static HANDLE opened(void)
{
    HANDLE file = CreateFileA(data_path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, 0,
                              OPEN_EXISTING, 0, 0);
    if (file == INVALID_HANDLE_VALUE)
        fail(data_path);
    return file;
}

static DWORD WINAPI nothing(void *unused) { (void)unused; return 0; }

static int run(const char *name, long count, unsigned long long *times)
{
    unsigned long long begin = now(), middle, first = 0, second = 0;
    if (!strcmp(name, "open")) {
        for (long i = 0; i < count; i++)
            CloseHandle(opened());
    } else if (!strcmp(name, "read")) {
        static char block[4096];
        HANDLE file = opened();
        begin = now();
        for (long i = 0; i < count; i++) {
            OVERLAPPED at = {0};
            DWORD got;
            at.Offset = (DWORD)(i % 64 * 4096);
            if (!ReadFile(file, block, sizeof block, &got, &at) || got != sizeof block)
                fail("read");
        }
        times[0] = now() - begin;
        CloseHandle(file);
        return 1;
    } else if (!strcmp(name, "thread")) {
        for (long i = 0; i < count; i++) {
            begin = now();
            HANDLE thread = CreateThread(0, 0, nothing, 0, 0, 0);
            middle = now();
            WaitForSingleObject(thread, INFINITE);
            CloseHandle(thread);
            first += middle - begin;
            second += now() - middle;
        }
        times[0] = first;
        times[1] = second;
        return 2;
    } else {
        return 0;
    }
    times[0] = now() - begin;
    return 1;
}

static void place(void)
{
    char folder[2048];
    GetTempPathA(sizeof folder, folder);
    snprintf(data_path, sizeof data_path, "%sby-hand-%lu", folder, GetCurrentProcessId());
}

static void pin(int cpu) { SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)1 << cpu); }

#else
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static void enter(int argc, char **argv)
{
    if (getpid() != 1)
        return;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "tty=", 4))
            continue;
        const char *folders[] = {"/proc", "/dev", "/tmp"};
        for (int f = 0; f < 3; f++)
            mkdir(folders[f], 0755);
        mount("proc", "/proc", "proc", 0, 0);
        mount("dev", "/dev", "devtmpfs", 0, 0);
        int fd = -1;
        for (int tries = 0; fd < 0 && tries < 300; tries++, usleep(10000))
            fd = open(argv[i] + 4, O_RDWR);
        struct termios mode;
        if (fd >= 0 && !tcgetattr(fd, &mode)) {
            cfmakeraw(&mode);
            tcsetattr(fd, TCSANOW, &mode);
        }
        dup2(fd, 0);
        dup2(fd, 1);
    }
}

static void leave(void)
{
    if (getpid() == 1 && !access("/dev/console", F_OK))
        reboot(RB_POWER_OFF);
}

static void *nothing(void *unused) { return unused; }

static int run(const char *name, long count, unsigned long long *times)
{
    static char block[4096];
    unsigned long long begin, middle, first = 0, second = 0;
    if (!strcmp(name, "getppid")) {
        begin = now();
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
        begin = now();
        for (long i = 0; i < count; i++) {
            int fd = open(data_path, O_RDONLY | O_CLOEXEC);
            if (fd < 0)
                fail(data_path);
            close(fd);
        }
    } else if (!strcmp(name, "read")) {
        int fd = open(data_path, O_RDONLY | O_CLOEXEC);
        begin = now();
        for (long i = 0; i < count; i++)
            if (pread(fd, block, sizeof block, i % 64 * 4096) != sizeof block)
                fail("read");
        times[0] = now() - begin;
        close(fd);
        return 1;
    } else if (!strcmp(name, "pipe")) {
        int to[2], from[2];
        char byte = 1;
        if (pipe(to) || pipe(from))
            fail("pipe");
        pid_t child = fork();
        if (child == 0) {
            close(to[1]);
            while (read(to[0], &byte, 1) == 1)
                if (write(from[1], &byte, 1) != 1)
                    break;
            _exit(0);
        }
        close(to[0]);
        begin = now();
        for (long i = 0; i < count; i++)
            if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
                fail("pipe");
        times[0] = now() - begin;
        close(to[1]);
        close(from[0]);
        close(from[1]);
        waitpid(child, 0, 0);
        return 1;
    } else {
        return 0;
    }
    times[0] = now() - begin;
    return 1;
}

static void place(void)
{
    const char *folder = getenv("BY_HAND_FOLDER");
    if (!folder)
        folder = "/tmp";
    snprintf(data_path, sizeof data_path, "%s/by-hand-%ld", folder, (long)getpid());
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}
#endif

int main(int argc, char **argv)
{
    enter(argc, argv);
    place();
    FILE *file = fopen(data_path, "wb");
    static char block[4096];
    memset(block, 7, sizeof block);
    for (int i = 0; i < 64; i++)
        if (!file || fwrite(block, sizeof block, 1, file) != 1)
            fail(data_path);
    fclose(file);
    printf("@ready\n");
    fflush(stdout);
    char line[256], name[64];
    long count;
    while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4)) {
        unsigned long long times[2];
        if (sscanf(line, "pin %ld", &count) == 1) {
            pin((int)count);
            printf("@pinned\n");
        } else if (sscanf(line, "%63s %ld", name, &count) == 2) {
            int phases = run(name, count, times);
            printf("@times");
            for (int i = 0; i < phases; i++)
                printf(" %llu", times[i]);
            printf("\n");
        }
        fflush(stdout);
    }
    remove(data_path);
    leave();
    return 0;
}
