/* A static program of a few instructions, for the operation `exec` of probe.c. */
void _start(void)
{
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
    __builtin_unreachable();
}
