#!/bin/sh
# usage: registers_test.sh ARCHIVE...
# The vector registers in the code of each kernel must be those of the instruction set in its name:
# zmm for avx512, ymm and no wider for avx2, xmm and no wider for sse41. References may use none.
set -eu

status=0
[ $# -gt 0 ] || { echo "no archives given" >&2; exit 1; }
for archive; do
    widest=$(objdump -d "$archive" | grep -o '%[xyz]mm' | sort -u | tail -n 1)
    case $archive in
    *_avx512.a) expected=%zmm ;;
    *_avx2.a) expected=%ymm ;;
    *_sse41.a) expected=%xmm ;;
    *) expected='the name of an instruction set' ;;
    esac
    echo "$(basename "$archive"): $widest"
    case $archive:$widest in
    *:$expected | *_reference_*:) ;;
    *) echo "  expected $expected"; status=1 ;;
    esac
done
exit $status
