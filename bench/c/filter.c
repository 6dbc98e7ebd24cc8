// ns of a getppid behind a seccomp filter that compares the number of the call N times in a row.
// filter N       the kernel may remember that the call is always allowed (Linux 5.11)
// filter N args  the filter also loads an argument, so that it is run for every call
// filter none    without a filter
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv) {
    static struct sock_filter code[4096];
    unsigned short n = 0;
    if (argc > 1 && strcmp(argv[1], "none") != 0) {
        unsigned nr = offsetof(struct seccomp_data, nr);
        unsigned arg = offsetof(struct seccomp_data, args);
        if (argc > 2)
            code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arg);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, nr);
        for (int i = 0; i < atoi(argv[1]); i++)
            code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 100000 + i, 0, 0);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        struct sock_fprog program = {n, code};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program)) {
            perror("seccomp");
            return 1;
        }
    }
    double least = 1e18;
    for (int round = 0; round < 200; round++) {
        double begin = now();
        for (int i = 0; i < 2000; i++)
            syscall(SYS_getppid);
        double each = (now() - begin) / 2000;
        least = each < least ? each : least;
    }
    printf("%.1f\n", least);
    return 0;
}
