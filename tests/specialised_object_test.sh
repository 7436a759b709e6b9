#!/bin/sh
# usage: specialised_object_test.sh BYTES OBJECT
# Fails unless the compiled wrapper of a specialised kernel is free of dependencies: it may want
# memcpy, memset and its kernels, defines no symbol that a linker could merge with another object's,
# has nothing that runs before main() and no tables of exceptions, and loads at most BYTES bytes.
set -eu

limit=$1
object=$2
status=0
fail() {
    echo "$object: $1"
    status=1
}

undefined=$(nm -P -u "$object" | awk '{ print $1 }' | grep -v '^selvage_conv_.*_argv$' || true)
for symbol in $undefined; do
    case $symbol in
    memcpy | memset) ;;
    *) fail "wants $symbol" ;;
    esac
done

for symbol in $(nm -P --defined-only "$object" | awk '$2 ~ /^[A-Zuvw]$/ { print $1 "=" $2 }'); do
    case $symbol in
    edge=T | edge_*=T) ;;
    *) fail "defines $symbol" ;;
    esac
done

for section in $(objdump -h "$object" | awk '$2 ~ /^\./ { print $2 }'); do
    case $section in
    .init_array* | .ctors* | .gcc_except_table* | .tbss* | .tdata*) fail "has $section" ;;
    esac
done

bytes=$(size "$object" | awk 'NR == 2 { print $1 + $2 + $3 }')
[ "$bytes" -le "$limit" ] || fail "loads $bytes bytes, more than $limit"
echo "$(basename "$object"): $bytes bytes, wants: $(echo $undefined)"
exit $status
