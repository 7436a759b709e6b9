#include "object_file.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include <elf.h>

namespace {

/// A copy of what lies at an offset, since that need not be aligned.
template <class T> T at(const std::string &object, std::uint64_t offset) {
    if (offset > object.size() || sizeof(T) > object.size() - offset)
        throw std::runtime_error("an object file is cut short");
    T value;
    std::memcpy(&value, object.data() + offset, sizeof value);
    return value;
}

std::vector<Elf64_Shdr> sections(const std::string &object) {
    const auto header = at<Elf64_Ehdr>(object, 0);
    std::vector<Elf64_Shdr> result;
    for (int i = 0; i < header.e_shnum; ++i)
        result.push_back(at<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr)));
    return result;
}

} // namespace

std::int64_t loaded_bytes(const std::string &object) {
    std::int64_t bytes = 0;
    for (const Elf64_Shdr &each : sections(object))
        if (each.sh_flags & SHF_ALLOC)
            bytes += std::int64_t(each.sh_size);
    return bytes;
}

bool is_referred_to(const std::string &object, const std::string &section) {
    const std::vector<Elf64_Shdr> all = sections(object);
    const Elf64_Shdr &names = all.at(at<Elf64_Ehdr>(object, 0).e_shstrndx);
    for (const Elf64_Shdr &each : all) {
        if (each.sh_type != SHT_RELA)
            continue;
        const Elf64_Shdr &symbols = all.at(each.sh_link);
        for (std::uint64_t i = 0; i < each.sh_size / sizeof(Elf64_Rela); ++i) {
            const auto place = at<Elf64_Rela>(object, each.sh_offset + i * sizeof(Elf64_Rela));
            const auto symbol = at<Elf64_Sym>(
                object, symbols.sh_offset + ELF64_R_SYM(place.r_info) * sizeof(Elf64_Sym));
            if (symbol.st_shndx >= SHN_LORESERVE)
                continue;
            const std::uint64_t name = names.sh_offset + all.at(symbol.st_shndx).sh_name;
            if (object.c_str() + name == section)
                return true;
        }
    }
    return false;
}
