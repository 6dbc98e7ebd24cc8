/* The operations of probe.c that Windows has, by the calls that a Windows program makes for them,
 * asked for in the same way. `stat` is asked for in four ways, as these differ. */
#define _WIN32_WINNT 0x0600
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

enum { BLOCK = 4096, BLOCKS = 64, MOST_BATCHES = 4000 };

static WCHAR folder[MAX_PATH], data_path[MAX_PATH], tiny_path[MAX_PATH];
static char block[BLOCK] __attribute__((aligned(4096)));
static HANDLE data, to_peer, from_peer;

static void fail(const char *what)
{
    fprintf(stderr, "%s: error %lu\n", what, GetLastError());
    exit(1);
}

static unsigned long long now(void)
{
    static LARGE_INTEGER rate;
    LARGE_INTEGER count;
    if (!rate.QuadPart)
        QueryPerformanceFrequency(&rate);
    QueryPerformanceCounter(&count);
    return count.QuadPart * (1000000000ull / rate.QuadPart);
}

static DWORD WINAPI nothing(void *unused) { (void)unused; return 0; }

static HANDLE opened(DWORD access, DWORD how)
{
    DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    HANDLE file = CreateFileW(data_path, access, shared, 0, how, 0, 0);
    if (file == INVALID_HANDLE_VALUE)
        fail("CreateFile");
    return file;
}

static void read_block(long number)
{
    OVERLAPPED at = {0};
    DWORD got;
    at.Offset = (DWORD)(number % BLOCKS * BLOCK);
    if (!ReadFile(data, block, BLOCK, &got, &at) || got != BLOCK)
        fail("ReadFile");
}

static void make_data(void)
{
    DWORD written;
    data = opened(GENERIC_READ | GENERIC_WRITE, CREATE_NEW);
    for (int i = 0; i < BLOCKS; i++) {
        for (int j = 0; j < BLOCK; j++)
            block[j] = rand();
        if (!WriteFile(data, block, BLOCK, &written, 0))
            fail("WriteFile");
    }
    for (int i = 0; i < BLOCKS; i++)
        read_block(i);
}

/* Starts a program; the handle of its process. */
static HANDLE started(const WCHAR *program, WCHAR *line, HANDLE in, HANDLE out)
{
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    WCHAR none[2] = {0};
    BOOL handles = in != 0;
    if (handles) {
        startup.dwFlags = STARTF_USESTDHANDLES;
        startup.hStdInput = in;
        startup.hStdOutput = out;
        startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    }
    if (!CreateProcessW(program, line, 0, 0, handles, CREATE_UNICODE_ENVIRONMENT,
                        handles ? 0 : none, 0, &startup, &made))
        fail("CreateProcess");
    CloseHandle(made.hThread);
    return made.hProcess;
}

static DWORD ended(HANDLE process)
{
    DWORD status = 1;
    WaitForSingleObject(process, INFINITE);
    GetExitCodeProcess(process, &status);
    CloseHandle(process);
    return status;
}

static void exchange(void)
{
    char byte = 1;
    DWORD done;
    if (!WriteFile(to_peer, &byte, 1, &done, 0) || !ReadFile(from_peer, &byte, 1, &done, 0))
        fail("pipe");
}

static void make_peer(void)
{
    SECURITY_ATTRIBUTES passed = {sizeof passed, 0, TRUE};
    HANDLE theirs[2];
    WCHAR self[MAX_PATH], line[MAX_PATH + 16];
    if (!CreatePipe(&theirs[0], &to_peer, &passed, 65536) ||
        !CreatePipe(&from_peer, &theirs[1], &passed, 65536))
        fail("CreatePipe");
    SetHandleInformation(to_peer, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(from_peer, HANDLE_FLAG_INHERIT, 0);
    GetModuleFileNameW(0, self, MAX_PATH);
    _snwprintf(line, MAX_PATH + 16, L"\"%ls\" echo", self);
    CloseHandle(started(self, line, theirs[0], theirs[1]));
    CloseHandle(theirs[0]);
    CloseHandle(theirs[1]);
    exchange();
}

static int echo(void)
{
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    char byte;
    DWORD done;
    while (ReadFile(in, &byte, 1, &done, 0) && done == 1)
        if (!WriteFile(out, &byte, 1, &done, 0))
            break;
    return 0;
}

/* One batch: its phases, or 0 where there is no such operation. */
static int batch(const char *name, long count, unsigned long long *times)
{
    unsigned long long begin = now(), middle, first = 0, second = 0;
    WIN32_FILE_ATTRIBUTE_DATA about;
    if (!strcmp(name, "clock")) {
        for (long i = 0; i < count; i++)
            now();
    } else if (!strcmp(name, "open")) {
        for (long i = 0; i < count; i++)
            CloseHandle(opened(GENERIC_READ, OPEN_EXISTING));
    } else if (!strcmp(name, "stat")) {
        for (long i = 0; i < count; i++)
            if (!GetFileAttributesExW(data_path, GetFileExInfoStandard, &about))
                fail("GetFileAttributesEx");
    } else if (!strcmp(name, "stat/attributes")) {
        for (long i = 0; i < count; i++)
            if (GetFileAttributesW(data_path) == INVALID_FILE_ATTRIBUTES)
                fail("GetFileAttributes");
    } else if (!strcmp(name, "stat/open")) {
        BY_HANDLE_FILE_INFORMATION all;
        for (long i = 0; i < count; i++) {
            HANDLE file = opened(FILE_READ_ATTRIBUTES, OPEN_EXISTING);
            if (!GetFileInformationByHandle(file, &all))
                fail("GetFileInformationByHandle");
            CloseHandle(file);
        }
    } else if (!strcmp(name, "stat/crt")) {
        struct _stat64 all;
        for (long i = 0; i < count; i++)
            if (_wstat64(data_path, &all))
                fail("_wstat64");
    } else if (!strcmp(name, "read")) {
        for (long i = 0; i < count; i++)
            read_block(i);
    } else if (!strcmp(name, "pipe")) {
        for (long i = 0; i < count; i++)
            exchange();
    } else if (!strcmp(name, "exec")) {
        for (long i = 0; i < count; i++) {
            WCHAR line[MAX_PATH];
            wcscpy(line, tiny_path);
            if (ended(started(tiny_path, line, 0, 0)))
                fail("exec");
        }
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

/* The words are those of probe.c, without the folder. */
static int work(char **words)
{
    static unsigned long long times[MOST_BATCHES][2];
    static WCHAR self[MAX_PATH], source[MAX_PATH];
    const char *name = words[2];
    long count = atol(words[3]), batches = atol(words[4]), cpu = atol(words[5]);
    if (batches > MOST_BATCHES ||
        (cpu >= 0 && !SetProcessAffinityMask(GetCurrentProcess(), (DWORD_PTR)1 << cpu)))
        fail("SetProcessAffinityMask");
    GetTempPathW(MAX_PATH, self);
    _snwprintf(folder, MAX_PATH, L"%lsby-hand-%lu", self, GetCurrentProcessId());
    _snwprintf(data_path, MAX_PATH, L"%ls\\file", folder);
    _snwprintf(tiny_path, MAX_PATH, L"%ls\\tiny.exe", folder);
    if (!CreateDirectoryW(folder, 0))
        fail("CreateDirectory");
    if (!strncmp(name, "stat", 4) || strstr("open read", name))
        make_data();
    if (!strcmp(name, "exec")) {
        GetModuleFileNameW(0, self, MAX_PATH);
        _snwprintf(source, MAX_PATH, L"%ls-tiny", self);
        if (!CopyFileW(source, tiny_path, TRUE))
            fail("CopyFile");
    }
    if (!strcmp(name, "pipe"))
        make_peer();
    int phases = batch(name, count, times[0]);
    for (long i = 0; phases && i < batches; i++)
        batch(name, count, times[i]);
    printf("@times");
    for (long i = 0; i < batches * phases; i++)
        printf(" %llu", times[i / phases][i % phases]);
    printf("\n");
    CloseHandle(data);
    DeleteFileW(data_path);
    DeleteFileW(tiny_path);
    RemoveDirectoryW(folder);
    return 0;
}

int main(int argc, char **argv)
{
    char line[256], name[64], numbers[3][24];
    WCHAR self[MAX_PATH], words[MAX_PATH + 200];
    if (argc == 6 && !strcmp(argv[1], "work"))
        return work(argv);
    if (argc == 2 && !strcmp(argv[1], "echo"))
        return echo();
    printf("@ready\n");
    fflush(stdout);
    GetModuleFileNameW(0, self, MAX_PATH);
    while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4)) {
        if (sscanf(line, "%63s %23s %23s %23s", name, numbers[0], numbers[1], numbers[2]) != 4)
            continue;
        _snwprintf(words, MAX_PATH + 200, L"\"%ls\" work %hs %hs %hs %hs", self, name, numbers[0],
                   numbers[1], numbers[2]);
        HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
        DWORD status = ended(started(self, words, in, out));
        if (status) {
            printf("@failed %lu\n", status);
            fflush(stdout);
        }
    }
    return 0;
}
