#!/usr/bin/env bash
# What needs a GPU, in order of importance, for a machine that is available for minutes only:
#
#   tests/cuda/on_a_gpu.sh check OUT    is everything installed? then equality of all games with the CPU
#   tests/cuda/on_a_gpu.sh quick OUT    the quick benchmark of all games
#   tests/cuda/on_a_gpu.sh bench OUT    the default benchmark
#   tests/cuda/on_a_gpu.sh turns OUT    check and, at the same time, what bench compiles; then bench
#   tests/cuda/on_a_gpu.sh caps OUT     Sudoku Moyo with 96, 128, 168 and 255 registers a thread
#
# Only wheels found in .whl/ are installed (gymnasium, pettingzoo and farama-notifications, if the
# machine lacks them). Logs and results go to OUT. Each part ends within ten minutes.
set -uo pipefail
cd "$(dirname "$0")/../.."
part=${1:?check, quick, bench or caps} out=$(realpath -m "${2:?a folder for logs and results}")
site=$(mktemp -d)
mkdir -p "$out" "$site/azumaya"
ls .whl/*.whl >/dev/null 2>&1 &&
    python3 -m pip install -q --no-index --no-deps --no-compile --target "$site" .whl/*.whl
cp src/azumaya/* "$site/azumaya/"
for folder in envs wrappers baselines benchmarks; do
    ln -s "$PWD/$folder" "$site/azumaya/$folder"
done
export PYTHONPATH=$site:$PWD PYTHONUNBUFFERED=1 AZUMAYA_CACHE_DIR=/tmp/azumaya-kernels
if nvcc=$(command -v nvcc); then # where numba looks for NVVM and libdevice without their wheels
    CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    export CUDA_HOME CUDA_PATH=$CUDA_HOME
fi

probe() {
    nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv
    python3 - <<'END'
import importlib.metadata as installed
for name in ("torch", "numpy", "numba", "numba-cuda", "cuda-core", "cuda-bindings", "llvmlite"):
    try:
        print(name, installed.version(name))
    except installed.PackageNotFoundError:
        print(name, "is not installed")
from azumaya.envs.registry import GAMES
from tests.cuda.compare import Pair
Pair(GAMES["sudoku_moyo"], 2048, "packed", "SameStep").play(20, seed=1)
print("Sudoku Moyo: equal")
END
}

measure() { python3 -m azumaya.benchmarks --device cuda "$@"; }

check() {
    failed=0 jobs=()
    games=$(python3 -c "from azumaya.envs.registry import GAMES; print(*GAMES)")
    for game in $games two_gigabytes; do # in parallel, as compiling takes most of the time
        python3 -m pytest -m cuda tests/cuda/test_device.py -p no:cacheprovider -k "$game" \
            >"$out/$game.log" 2>&1 &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    tail -n 3 "$out"/*.log
    return "$failed"
}

case $part in
check) probe && check ;;
turns)
    probe || exit
    mkfifo "$site/checked"
    python3 -m tests.cuda.in_turns "$out/default" <"$site/checked" & turns=$!
    exec 3>"$site/checked"
    check
    failed=$?
    echo >&3
    wait "$turns" && exit "$failed"
    ;;
quick) measure --quick --output "$out/quick" ;;
bench) measure --output "$out/default" ;;
caps)
    for cap in 96 128 168 255; do
        rm -rf "$site/azumaya/envs" && cp -r envs "$site/azumaya/envs"
        sed -i "s/^REGISTERS = .*/REGISTERS = $cap/" "$site/azumaya/envs/adapters/cuda/kernels.py"
        measure --quick --game sudoku_moyo --output "$out/cap-$cap"
    done
    ;;
*) echo "unknown part: $part" >&2 && exit 2 ;;
esac
