#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

/// Whole pages of memory with a page on either side that faults on any access.
class GuardedMemory {
public:
    /// Room for at least `bytes`. With MAP_SHARED in place of MAP_PRIVATE a page faults once; else
    /// one that is read before it is written faults twice.
    explicit GuardedMemory(std::size_t bytes, int sharing = MAP_PRIVATE)
        : page_(std::size_t(sysconf(_SC_PAGESIZE))), bytes_((bytes + page_ - 1) / page_ * page_) {
        mapping_ = static_cast<std::byte *>(
            mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, sharing | MAP_ANONYMOUS, -1, 0));
        if (mapping_ == MAP_FAILED)
            throw std::bad_alloc();
        protect(PROT_READ | PROT_WRITE);
    }
    ~GuardedMemory() { munmap(mapping_, bytes_ + 2 * page_); }
    GuardedMemory(const GuardedMemory &) = delete;
    GuardedMemory &operator=(const GuardedMemory &) = delete;

    /// The first byte after the front guard page, and the one after the last, in the back guard.
    template <class T> T *begin() const { return reinterpret_cast<T *>(mapping_ + page_); }
    template <class T> T *end() const { return reinterpret_cast<T *>(mapping_ + page_ + bytes_); }

    /// The last `count` elements before the back guard page; the start is rounded down to a
    /// multiple of `alignment` bytes.
    template <class T> T *last(std::size_t count, std::size_t alignment = alignof(T)) const {
        const std::size_t offset = (bytes_ - count * sizeof(T)) / alignment * alignment;
        return reinterpret_cast<T *>(begin<std::byte>() + offset);
    }

    /// From here on a write faults.
    void make_read_only() const { protect(PROT_READ); }

private:
    void protect(int protection) const {
        if (bytes_ > 0 && mprotect(mapping_ + page_, bytes_, protection) != 0)
            std::abort();
    }

    std::size_t page_, bytes_;
    std::byte *mapping_ = nullptr;
};
