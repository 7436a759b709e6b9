#!/bin/sh
# usage: registers_test.sh ARCHIVE...
# The vector code of each kernel must be of the instruction set in its name and of none beyond: of
# avx512 are zmm and the registers 16 to 31 of any length, of avx2 ymm and fused multiply-adds, of
# sse41 xmm. References may use none. Groups of few channels are computed in short vectors.
set -eu

status=0
[ $# -gt 0 ] || { echo "no archives given" >&2; exit 1; }
for archive; do
    code=$(objdump -d "$archive")
    found=none
    case $code in *%xmm*) found=sse41 ;; esac
    case $code in *%ymm* | *vfmadd*) found=avx2 ;; esac
    if printf '%s\n' "$code" | grep -qE '%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])'; then found=avx512; fi
    echo "$(basename "$archive"): $found"
    case $archive in
    *_"$found".a) ;;
    *_reference_*) [ $found = none ] || { echo "  unexpected"; status=1; } ;;
    *) echo "  unexpected"; status=1 ;;
    esac
done
exit $status
