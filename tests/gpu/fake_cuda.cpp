#include "fake_cuda.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

// The results are CUresult; addresses of the device are those of the host's memory.

extern "C" {

FakeCuda fake_cuda;

int cuInit(unsigned) { return fake_cuda.init; }
int cuDeviceGetCount(int *count) {
    *count = fake_cuda.devices;
    return 0;
}
int cuDeviceGet(int *device, int index) {
    *device = index;
    return 0;
}
int cuDeviceGetName(char *name, int bytes, int) {
    std::strncpy(name, "Fake GPU", std::size_t(bytes));
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
    *value = attribute == 75 ? fake_cuda.major : fake_cuda.minor;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int) {
    ++fake_cuda.retained;
    *context = &fake_cuda;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    --fake_cuda.retained;
    return 0;
}
int cuCtxPushCurrent_v2(void *) {
    ++fake_cuda.contexts;
    return 0;
}
int cuCtxPopCurrent_v2(void **) {
    --fake_cuda.contexts;
    return 0;
}
int cuCtxGetDevice(int *device) {
    *device = 0;
    return 0;
}
int cuMemAlloc_v2(std::uint64_t *address, std::size_t bytes) {
    constexpr int out_of_memory = 2;
    if (bytes > fake_cuda.room)
        return out_of_memory;
    ++fake_cuda.allocations;
    *address = reinterpret_cast<std::uintptr_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    return 0;
}
int cuMemFree_v2(std::uint64_t address) {
    --fake_cuda.allocations;
    std::free(reinterpret_cast<void *>(address));
    return 0;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void *from, std::size_t bytes, void *) {
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, std::uint64_t from, std::size_t bytes, void *) {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return 0;
}
int cuStreamSynchronize(void *) { return fake_cuda.synchronize; }
int cuModuleLoadDataEx(void **module, const void *source, unsigned count, int *options, void **) {
    fake_cuda.jit_options.insert(fake_cuda.jit_options.end(), options, options + count);
    fake_cuda.sources.push_back(static_cast<const char *>(source));
    if (fake_cuda.load == 0)
        ++fake_cuda.modules;
    *module = &fake_cuda;
    return fake_cuda.load;
}
int cuModuleUnload(void *) {
    --fake_cuda.modules;
    return 0;
}
int cuModuleGetFunction(void **function, void *, const char *) {
    *function = &fake_cuda;
    return 0;
}
int cuLaunchKernel(void *, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads_x, unsigned threads_y, unsigned threads_z,
                   unsigned shared_bytes, void *stream, void **, void **) {
    fake_cuda.launches.push_back(
        {{blocks_x, blocks_y, blocks_z}, {threads_x, threads_y, threads_z}, shared_bytes, stream});
    return fake_cuda.launch;
}
int cuGetErrorName(int, const char **name) {
    *name = "CUDA_ERROR_OF_THE_FAKE";
    return 0;
}
}
