/* The loop of `syscall.getppid`, instruction by instruction, at many addresses of one process.
 * Prints a line for each address: the address, and two costs of a call in ns, each the 25 % quantile
 * of every second round. Rounds take turns over all addresses, so that what the machine does
 * meanwhile falls on all of them. Linked elsewhere than the addresses that it uses. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PLACES 3000
#define ROUNDS 16
#define CALLS 1500

extern char loop_begin[], loop_end[];
__asm__(".text\n"
        "loop_begin:\n"
        "  push %rbx\n  push %r14\n  sub $0x18, %rsp\n  mov %rdi, %rbx\n  jmp 2f\n"
        "1: mov %eax, 0xc(%rsp)\n"
        "2: dec %rbx\n  je 3f\n"
        "  mov $0x6e, %eax\n"
        "  xor %edi, %edi\n  xor %esi, %esi\n  xor %edx, %edx\n  xor %r10d, %r10d\n"
        "  syscall\n"
        "  mov %rax, %r14\n  mov %rax, %rcx\n  shl $0x20, %rcx\n  mov $2, %eax\n  sub %rcx, %rax\n"
        "  cmp $0xfffffffffffff001, %r14\n  cmovb %r14, %rax\n  jb 1b\n"
        "  .skip 78, 0x90\n"
        "3: add $0x18, %rsp\n  pop %r14\n  pop %rbx\n  ret\n"
        "loop_end:\n");

static double cost[PLACES][ROUNDS];

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The 25 % quantile of every second round, from the first or from the second on. */
static double half(const double *rounds, int first) {
    double own[ROUNDS / 2];
    for (int i = 0; i < ROUNDS / 2; i++) own[i] = rounds[2 * i + first];
    qsort(own, ROUNDS / 2, sizeof *own, by_value);
    return own[ROUNDS / 8];
}

int main(void) {
    /* One page a place, below the address at which the program itself is linked. */
    char *base = mmap((void *)0x400000, PLACES * 4096l, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (base == MAP_FAILED) {
        perror("mapping the places");
        return 2;
    }
    void (*loop[PLACES])(long);
    srand(7);
    for (int i = 0; i < PLACES; i++) {
        char *at = base + i * 4096l + rand() % 480 * 8;
        memcpy(at, loop_begin, loop_end - loop_begin);
        loop[i] = (void (*)(long))at;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < PLACES; i++) {
            loop[i](50);
            uint64_t start = now();
            loop[i](CALLS);
            cost[i][round] = (double)(now() - start) / (CALLS - 1);
        }
    for (int i = 0; i < PLACES; i++)
        printf("%p %.2f %.2f\n", (void *)loop[i], half(cost[i], 0), half(cost[i], 1));
    return 0;
}
