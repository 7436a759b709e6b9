#!/usr/bin/env bash
# Puts NVIDIA's assembler and disassemblers, which need no GPU, into a virtual environment: gpu_tools.sh PATH
#
# Prints the folder that has ptxas, cuobjdump and nvdisasm, for bench/gpu_model.py. Does nothing else where
# this same script has already set PATH up. PYTHON names the interpreter (python3).
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 PATH" >&2
    exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
venv=$(cd "$1" && pwd)
stamp="$venv/gpu-tools.stamp"
fingerprint=$(sha256sum <"$here/gpu_tools.sh")
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$fingerprint" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
    # The compilers that nvcc depends on are left out: only its assembler is run.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        nvidia-cuda-nvcc==13.5.37 nvidia-cuda-cuobjdump==13.5.37 nvidia-cuda-nvdisasm==13.5.37
    echo "$fingerprint" >"$stamp"
fi
dirname "$(find "$venv" -name ptxas -type f)"
