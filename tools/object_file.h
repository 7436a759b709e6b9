#pragma once

#include <cstdint>
#include <string>

/// Questions about the bytes of a relocatable object file, ELF of 64 bits and little-endian.

/// Bytes that a program loads: code and data.
std::int64_t loaded_bytes(const std::string &object);

/// Whether anything in it refers to a section.
bool is_referred_to(const std::string &object, const std::string &section);
