#pragma once

#include <selvage/core/kernel_row.h>

/// A family as C++ and the parameter `schedule` of the generators call it.
inline const char *family_name(selvage::Family family) {
    switch (family) {
    case selvage::Family::reference: return "reference";
    case selvage::Family::direct: return "direct";
    case selvage::Family::pointwise: return "pointwise";
    case selvage::Family::narrow: return "narrow";
    case selvage::Family::planar: return "planar";
    case selvage::Family::winograd: return "winograd";
    case selvage::Family::rows: return "rows";
    case selvage::Family::taps: return "taps";
    case selvage::Family::lines: return "lines";
    case selvage::Family::any: break;
    }
    return "any";
}
