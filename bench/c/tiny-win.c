/* A program that asks for its end, for the operation `exec` of probe-win.c. */
#include <windows.h>

void start(void) { ExitProcess(0); }
