/* An NVML as an old driver has it: one GPU, first versions only, nearly everything missing. The names and layouts
   are those of the real library's oldest functions. */
#include <string.h>

typedef struct Handle* Device;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned pid; unsigned long long used; } Process;

static int gpu;

int nvmlInit(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount(unsigned* count) { return *count = 1, 0; }
int nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
    if (index != 0) return 2;
    *device = (Device)&gpu;
    return 0;
}
int nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
    if (size < 80) return 7;
    strcpy(text, "GPU-0ld");
    return 0;
}
int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
    memory->total = 16ULL << 30;
    memory->used = 3ULL << 30;
    memory->free = 13ULL << 30;
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) { return *reasons = 4, 0; }
/* Wants more room the first time, and does not know the memory of one of them. */
int nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, Process* processes) {
    const unsigned there = 70;
    if (*count < there) return *count = there, 7;
    for (unsigned i = 0; i < there; ++i) {
        processes[i].pid = 1000 + there - i;
        processes[i].used = i == 0 ? ~0ULL : 1ULL << 20;
    }
    return *count = there, 0;
}
