#!/bin/sh
# usage: symbols_test.sh ARCHIVE...
# Prints what each kernel archive leaves undefined, and fails if that is more than memcpy, memset and
# the two hooks through which a kernel gets its scratch memory; powf for the power of lp_pool; of kernels for
# GPUs the hooks that stand for Halide's runtime.
set -eu

allowed='memcpy memset selvage_scratch_alloc selvage_scratch_free'
status=0

[ $# -gt 0 ] || { echo "no archives given" >&2; exit 1; }
for archive; do
    symbols=$(nm -P "$archive")
    defined=$(printf '%s\n' "$symbols" | awk '$2 ~ /^[A-TV-Z]$/ { print $1 }')
    undefined=$(printf '%s\n' "$symbols" | awk '$2 ~ /^[Uvw]$/ { print $1 }' | sort -u)
    [ -n "$defined" ] || { echo "$archive: defines nothing"; status=1; }
    list=
    case "$(basename "$archive")" in
    *_opencl.a | *_cuda??.a)
        more='selvage_gpu_load selvage_gpu_launch selvage_gpu_unload selvage_gpu_interface
            selvage_gpu_copy selvage_gpu_alloc selvage_gpu_free selvage_gpu_free_at_exit'
        ;;
    selvage_lp_pool_*) more=powf ;;
    *) more= ;;
    esac
    for symbol in $undefined; do
        case " $(echo $defined) " in *" $symbol "*) continue ;; esac
        case " $(echo $allowed $more) " in
        *" $symbol "*) list="$list $symbol" ;;
        *) list="$list $symbol(not allowed)"; status=1 ;;
        esac
    done
    echo "$(basename "$archive"):${list:- none}"
done
exit $status
