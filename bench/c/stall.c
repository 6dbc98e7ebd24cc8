// Runs a command, and stops it and all that it starts for 5 ms every 50 ms.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pause_ms(long ms) {
    struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        pause_ms(45);
        kill(-child, SIGSTOP);
        pause_ms(5);
        kill(-child, SIGCONT);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
