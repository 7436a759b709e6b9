#!/bin/sh
# usage: registers_test.sh OBJDUMP ARCHIVE...
# The vector code of each kernel must be of the instruction set in its name and of none beyond. On x86, of
# avx512 are zmm and the registers 16 to 31 of any length, of avx2 ymm and fused multiply-adds, of sse41
# xmm. On ARM, of neon are vectors v0 to v31 of bytes, words and floats; beyond are dot products, matrix
# products, half floats and SVE. References may use none. Groups of few channels are computed in short
# vectors.
set -eu

objdump=$1
shift
status=0
[ $# -gt 0 ] || { echo "no archives given" >&2; exit 1; }
for archive; do
    code=$("$objdump" -d "$archive")
    has() { printf '%s\n' "$code" | grep -qE "$1"; }
    found=none
    case $archive in
    *_neon.a)
        if has '[[:space:]]v[0-9]+[.]'; then found=neon; fi
        if has '[[:space:]](([su]|us|su)(dot|mmla)|bf(dot|mmla|mlal[bt]|cvt[a-z0-9]*)|f[a-z]+[[:space:]]v[0-9]+[.][48]h)|[[:space:]][zp][0-9]+[./]'; then
            found=beyond
        fi
        ;;
    *)
        if has '%xmm'; then found=sse41; fi
        if has '%ymm|vfmadd'; then found=avx2; fi
        if has '%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])'; then found=avx512; fi
        ;;
    esac
    echo "$(basename "$archive"): $found"
    case $archive in
    *_"$found".a) ;;
    *_reference_*) [ $found = none ] || { echo "  unexpected"; status=1; } ;;
    *) echo "  unexpected"; status=1 ;;
    esac
done
exit $status
