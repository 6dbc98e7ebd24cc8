/* The operations of envtax's probes as bare C loops: what `bench/fidelity` holds envtax against.
 *
 *     loops PROBE ITERATIONS SAMPLES CPU OTHER_CPU FOLDER
 *
 * Takes one sample that is thrown away and then SAMPLES samples of ITERATIONS operations each, as
 * an envtax worker does, and prints the nanoseconds of every sample, one line a phase, and last
 * `faults N`: minor page faults per sample of this process and its children. FOLDER is made and
 * removed. Every function below follows the definition that `envtax list probes` prints; it is not
 * tuned to agree. What is defined as a system call goes by its number, as in envtax: the wrappers of
 * C libraries cost up to 5 % of a cheap call, each library's another. */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PHASES = 4, MAX_SAMPLES = 1000, FILES = 64 };

static int cpu, other_cpu;
static const char *folder;
static char path[4096];

/* A call that must not fail: the loops look at every result, as any program has to. */
#define MUST(condition) do { if (!(condition)) err(1, "%s", #condition); } while (0)

/* Keeps the compiler from dropping the value. */
#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

/* The system call itself, with no C library in between. */
static inline long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    long result = number;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long result __asm__("x0") = a;
    register long second __asm__("x1") = b, third __asm__("x2") = c, fourth __asm__("x3") = d;
    register long code __asm__("x8") = number;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(second), "r"(third), "r"(fourth), "r"(code)
                     : "memory");
    return result;
#else
    return syscall(number, a, b, c, d);
#endif
}

/* ---- time ---- */

/* On the stack, whose page a forking parent copies anyway: in a page of its own it would add one
 * page fault to every fork. */
struct watch {
    uint64_t last, slots[MAX_PHASES];
};

static inline uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void lap(struct watch *w, int phase)
{
    uint64_t t = now();
    w->slots[phase] += t - w->last;
    w->last = t;
}

/* ---- what several probes need ---- */

static void pin(int to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(to, &set);
    MUST(sched_setaffinity(0, sizeof set, &set) == 0);
}

static void make_file(const char *name, const void *data, size_t bytes, mode_t mode)
{
    MUST(mkdir(folder, 0777) == 0);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    MUST(fd >= 0);
    MUST(write(fd, data, bytes) == (ssize_t)bytes);
    MUST(close(fd) == 0);
}

static void reap(pid_t pid)
{
    int status;
    MUST(waitpid(pid, &status, 0) == pid);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- clock.read, syscall.getppid ---- */

static void clock_read(long n, struct watch *)
{
    for (long i = 0; i < n; i++)
        KEEP(now());
}

static void getppid_call(long n, struct watch *)
{
    for (long i = 0; i < n; i++)
        KEEP(call(SYS_getppid, 0, 0, 0, 0));
}

/* ---- process.fork ---- */

/* What a worker has beyond this program (/proc/PID/smaps of both, page faults by ftrace): mappings,
 * anonymous pages written before, pages the child writes, stretches of 64 KiB of code it runs. */
enum { UNWRITTEN = 3, WRITTEN = 3, PAGES = 9, CHILD_PAGES = 1, STRETCHES = 2, PAGE = 4096 };

static char *extra;

/* In a section of their own: between the other functions they would keep those apart too. */
__asm__(".pushsection stretches, \"ax\"\n .balign 65536\n stretch0: ret\n"
        ".skip 65536\n stretch1: ret\n .skip 65536\n .popsection");
extern void stretch0(void), stretch1(void);

static inline void run_stretches(void)
{
    _Static_assert(STRETCHES == 2, "one call for each");
    stretch0(), stretch1();
}

static void worker_setup(void)
{
    size_t bytes = (2 * (UNWRITTEN + WRITTEN) + PAGES) * PAGE;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(at != MAP_FAILED);
    for (int i = 0; i < UNWRITTEN + WRITTEN; i++, at += 2 * PAGE) {
        MUST(munmap(at + PAGE, PAGE) == 0); /* a hole, so that mappings stay apart */
        if (i >= UNWRITTEN)
            *at = 1;
    }
    for (int i = 0; i < PAGES; i++)
        at[i * PAGE] = 1;
    extra = at;
    run_stretches();
}

/* `more` is an argument: a child that looked at a variable would take a page fault for it. */
static inline void fork_loop(long n, struct watch *w, char *more)
{
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            for (int page = 0; more && page < CHILD_PAGES; page++)
                *(volatile char *)(more + page * PAGE) = 2;
            if (more)
                run_stretches();
            _exit(0);
        }
        MUST(pid > 0);
        lap(w, 0);
        reap(pid);
        lap(w, 1);
    }
}

static void fork_exit(long n, struct watch *w)
{
    fork_loop(n, w, NULL);
}

static void worker_fork(long n, struct watch *w)
{
    fork_loop(n, w, extra);
}

/* ---- process.exec ---- */

static char *words[4];

static void exec_tiny_setup(void)
{
    /* The same 129 bytes as envtax carries: a linked program would have more pages. */
    static const unsigned char code[] = {
#if defined(__x86_64__)
        0x31, 0xff, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05, /* exit(0) */
        #define MACHINE EM_X86_64
#elif defined(__aarch64__)
        0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
        #define MACHINE EM_AARCH64
#endif
    };
    struct { Elf64_Ehdr head; Elf64_Phdr segment; unsigned char code[sizeof code]; }
        __attribute__((packed)) tiny = {
        .head = {
            .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
            .e_type = ET_EXEC, .e_machine = MACHINE, .e_version = EV_CURRENT,
            .e_entry = 0x400000 + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
            .e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
            .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1, .e_shentsize = 64,
        },
        .segment = {
            .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000, .p_paddr = 0x400000,
            .p_filesz = sizeof tiny, .p_memsz = sizeof tiny, .p_align = 0x1000,
        },
    };
    memcpy(tiny.code, code, sizeof code);
    make_file("tiny", &tiny, sizeof tiny, 0700);
    words[0] = path;
}

static void exec_dynamic_setup(void)
{
    words[0] = "/bin/true";
}

static void exec_shell_setup(void)
{
    words[0] = "/bin/sh", words[1] = "-c", words[2] = ":";
}

static void exec_run(long n, struct watch *)
{
    char *environment[] = { NULL };
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            execve(words[0], words, environment);
            _exit(127);
        }
        MUST(pid > 0);
        reap(pid);
    }
}

/* ---- thread.create ---- */

static void *end_at_once(void *unused)
{
    return unused;
}

static void thread_run(long n, struct watch *w)
{
    for (long i = 0; i < n; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, end_at_once, NULL) == 0);
        lap(w, 0);
        MUST(pthread_join(thread, NULL) == 0);
        lap(w, 1);
    }
}

/* ---- pipe.roundtrip ---- */

static int to_peer, from_peer;

static void round_trip(void)
{
    char byte = 0x55;
    MUST(call(SYS_write, to_peer, (long)&byte, 1, 0) == 1);
    MUST(call(SYS_read, from_peer, (long)&byte, 1, 0) == 1);
}

static void pipe_setup(int peer_cpu)
{
    int there[2], back[2];
    MUST(pipe2(there, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0);
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        char byte;
        close(there[1]), close(back[0]);
        pin(peer_cpu);
        /* Ends when the other end of its pipe closes, also when that process is killed. */
        while (call(SYS_read, there[0], (long)&byte, 1, 0) == 1)
            if (call(SYS_write, back[1], (long)&byte, 1, 0) != 1)
                _exit(1);
        _exit(0);
    }
    close(there[0]), close(back[1]);
    to_peer = there[1], from_peer = back[0];
    round_trip();
}

static void pipe_same_setup(void)
{
    pipe_setup(cpu);
}

static void pipe_other_setup(void)
{
    pipe_setup(other_cpu);
}

static void pipe_run(long n, struct watch *)
{
    for (long i = 0; i < n; i++)
        round_trip();
}

static void pipe_end(void)
{
    close(to_peer);
    MUST(wait(NULL) > 0);
}

/* ---- file.stat, file.open ---- */

static void small_file_setup(void)
{
    make_file("file", "12345", 5, 0666);
}

static int open_at(const char *name, int flags, int mode)
{
    return call(SYS_openat, AT_FDCWD, (long)name, flags, mode);
}

static void stat_run(long n, struct watch *)
{
    for (long i = 0; i < n; i++) {
        struct stat s;
        MUST(call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&s, 0) == 0 && s.st_size == 5);
    }
}

static void open_run(long n, struct watch *)
{
    for (long i = 0; i < n; i++) {
        int fd = open_at(path, O_RDONLY | O_CLOEXEC, 0);
        MUST(fd >= 0);
        MUST(call(SYS_close, fd, 0, 0, 0) == 0);
    }
}

/* ---- file.create ---- */

static char paths[FILES][4096];
static int fds[FILES];

static void create_setup(void)
{
    MUST(mkdir(folder, 0777) == 0);
    for (int i = 0; i < FILES; i++)
        snprintf(paths[i], sizeof paths[i], "%s/f%d", folder, i);
}

static void create_run(long n, struct watch *w)
{
    MUST(n <= FILES);
    for (long i = 0; i < n; i++) {
        fds[i] = open_at(paths[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        MUST(fds[i] >= 0);
    }
    lap(w, 0);
    for (long i = 0; i < n; i++)
        MUST(call(SYS_write, fds[i], (long)"x", 1, 0) == 1);
    lap(w, 1);
    for (long i = 0; i < n; i++)
        MUST(call(SYS_close, fds[i], 0, 0, 0) == 0);
    lap(w, 2);
    for (long i = 0; i < n; i++)
        MUST(call(SYS_unlinkat, AT_FDCWD, (long)paths[i], 0, 0) == 0);
    lap(w, 3);
}

/* ---- file.read ---- */

static int read_fd;
static char *buffer;
static size_t block_bytes;
static off_t file_bytes, offset;

static void read_run(long n, struct watch *)
{
    for (long i = 0; i < n; i++) {
        MUST(call(SYS_pread64, read_fd, (long)buffer, block_bytes, offset)
             == (long)block_bytes);
        offset += block_bytes;
        if (offset == file_bytes)
            offset = 0;
    }
}

static void read_setup(size_t block, size_t bytes)
{
    uint64_t *data = malloc(bytes), state = 0x9e3779b97f4a7c15;
    MUST(data);
    for (size_t i = 0; i < bytes / 8; i++) { /* xorshift: bytes that do not compress */
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        data[i] = state;
    }
    make_file("file", data, bytes, 0666);
    free(data);
    read_fd = open(path, O_RDONLY | O_CLOEXEC);
    MUST(read_fd >= 0);
    buffer = aligned_alloc(4096, block);
    memset(buffer, 0, block);
    MUST(buffer);
    block_bytes = block, file_bytes = bytes;
    read_run(bytes / block, NULL); /* first pass, as envtax makes one */
}

static void read_small_setup(void)
{
    read_setup(4 << 10, 256 << 10);
}

static void read_large_setup(void)
{
    read_setup(1 << 20, 4 << 20);
}

/* ---- memory.fault ---- */

static char *region;
static size_t page;

static void fault_setup(void)
{
    page = sysconf(_SC_PAGESIZE);
}

static void fault_before(long n)
{
    region = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(region != MAP_FAILED);
    MUST(madvise(region, n * page, MADV_NOHUGEPAGE) == 0);
}

static void fault_run(long n, struct watch *)
{
    for (long i = 0; i < n; i++)
        *(volatile char *)(region + i * page) = 1;
}

static void fault_after(long n)
{
    MUST(munmap(region, n * page) == 0);
}

/* ---- the block ---- */

struct probe {
    const char *name;
    int phases;
    void (*setup)(void);
    void (*run)(long n, struct watch *w);
    void (*before)(long n), (*after)(long n); /* around every sample, not timed */
    void (*end)(void);
};

static const struct probe probes[] = {
    { "clock.read clock=monotonic", 1, NULL, clock_read },
    { "syscall.getppid", 1, NULL, getppid_call },
    { "process.fork", 2, NULL, fork_exit },
    { "process.fork as=worker", 2, worker_setup, worker_fork },
    { "process.exec target=tiny", 1, exec_tiny_setup, exec_run },
    { "process.exec target=dynamic", 1, exec_dynamic_setup, exec_run },
    { "process.exec target=shell", 1, exec_shell_setup, exec_run },
    { "thread.create", 2, NULL, thread_run },
    { "pipe.roundtrip cpu=same", 1, pipe_same_setup, pipe_run, .end = pipe_end },
    { "pipe.roundtrip cpu=other", 1, pipe_other_setup, pipe_run, .end = pipe_end },
    { "file.stat", 1, small_file_setup, stat_run },
    { "file.open", 1, small_file_setup, open_run },
    { "file.create", 4, create_setup, create_run },
    { "file.read size=4KiB", 1, read_small_setup, read_run },
    { "file.read size=1MiB", 1, read_large_setup, read_run },
    { "memory.fault", 1, fault_setup, fault_run, fault_before, fault_after },
};

static void sample(const struct probe *p, long n, struct watch *w)
{
    if (p->before)
        p->before(n);
    memset(w, 0, sizeof *w);
    w->last = now();
    p->run(n, w);
    lap(w, p->phases - 1);
    if (p->after)
        p->after(n);
}

static long minor_faults(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return own.ru_minflt + children.ru_minflt;
}

int main(int argc, char **argv)
{
    static uint64_t times[MAX_PHASES][MAX_SAMPLES];
    struct watch watch;
    const struct probe *p = NULL;
    if (argc != 7)
        errx(2, "usage: loops PROBE ITERATIONS SAMPLES CPU OTHER_CPU FOLDER");
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (strcmp(probes[i].name, argv[1]) == 0)
            p = &probes[i];
    long n = atol(argv[2]), samples = atol(argv[3]);
    cpu = atoi(argv[4]), other_cpu = atoi(argv[5]), folder = argv[6];
    if (!p || n < 1 || samples < 1 || samples > MAX_SAMPLES)
        errx(2, "no such probe, or a number out of range");
    pin(cpu);
    if (p->setup)
        p->setup();
    long faults = minor_faults();
    for (long s = -1; s < samples; s++) { /* number -1 is thrown away */
        sample(p, n, &watch);
        for (int phase = 0; s >= 0 && phase < p->phases; phase++)
            times[phase][s] = watch.slots[phase];
    }
    faults = minor_faults() - faults;
    if (p->end)
        p->end();
    for (int phase = 0; phase < p->phases; phase++)
        for (long s = 0; s < samples; s++)
            printf("%llu%c", (unsigned long long)times[phase][s], s + 1 < samples ? ' ' : '\n');
    printf("faults %.2f\n", (double)faults / (samples + 1));
    if (*path)
        unlink(path);
    rmdir(folder); /* most probes made none */
}
