#!/usr/bin/env bash
# What needs a GPU, for a machine that is available for minutes only:
#
#   tests/cuda/on_a_gpu.sh visit OUT MINUTES GAME[:NETWORK] ...   what is still missing, for a visit
#                                       of ten minutes: one game is equal; then for each word a
#                                       profile of PPO and a training, packed before the next one.
#                                       Besides MINUTES a game takes some two more, to compile twice:
#                                       ... visit OUT 2 vierer_dominari:lines halma_dominari
#   tests/cuda/on_a_gpu.sh all OUT      equality of all games with the CPU, then the quick benchmark;
#                                       everything is compiled side by side
#   tests/cuda/on_a_gpu.sh check OUT    only equality; more than four minutes, so `timeout 400` or more
#   tests/cuda/on_a_gpu.sh bench OUT    only the benchmark; further words are its options, else --quick
#   tests/cuda/on_a_gpu.sh train OUT GAME[:NETWORK] MINUTES   trains by PPO, or by SCRIPT=alphazero;
#                                       further words are its options. To go on later, carry OUT home
#                                       and back: ... --resume. GAME may be connect_four, too. Alone:
#                                       compiling beside other work takes minutes instead of one.
#                                       AlphaZero's save is small enough with --memory 100000.
#   tests/cuda/on_a_gpu.sh profile OUT GAME[:NETWORK]   where the time of PPO goes, as tables and a picture
#   tests/cuda/on_a_gpu.sh run OUT COMMAND   a command in the same environment
#   tests/cuda/on_a_gpu.sh caps OUT     Sudoku Moyo with 96, 128, 168 and 255 registers a thread
#
# All wheels found in .whl/ are installed, for a machine without a network; of what it lacked last
# time (Python 3.12, torch, numba-cuda, pytest and others were there):
#
#   pip download --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
#       --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
#       --platform manylinux2014_x86_64 -d .whl gymnasium pettingzoo farama-notifications msgspec \
#       platformdirs filelock "numpy<2.5" typer pydantic pydantic-core==2.50.5 annotated-types \
#       typing-inspection       # pydantic-core in the version that pydantic asks for
#
# Logs and results go to OUT, at most 8 files of at most 15 MiB, as many as come home. What is
# found of a game is OUT/GAME.tar.aa and, if it is larger, .ab and so on: `cat OUT/GAME.tar.* | tar
# -x` makes GAME/run, log, profile.md and profile.svg; with a network it is GAME-NETWORK. Each part
# ends within ten minutes; `timeout` before the machine's own limit, such as 570 seconds, packs what
# there is by then.
# In 15 minutes (2026-11-27): 230 s of `check` were not enough; `train` of Sudoku Moyo with 90
# million steps took 285 s, and of Connect Four by AlphaZero for 2.8 minutes 190 s
# (TORCH_COMPILE_DISABLE=1, as compiling a small network takes longer than it saves).
set -uo pipefail
cd "$(dirname "$0")/../.."
part=${1:?visit, all, check, bench, train, profile, run or caps}
out=$(realpath -m "${2:?a folder for logs and results}")
shift 2
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

check() {
    failed=0 jobs=() logs=$(mktemp -d)
    trap 'tail -n +1 "$logs"/* >"$out/check.log"; exit 124' TERM # of `timeout`
    games=$(python3 -c "from tests.cases import TESTED; print(*TESTED)") || return
    for game in $games two_gigabytes; do # in parallel, as compiling takes most of the time
        python3 -m pytest -v -m cuda tests/cuda/test_device.py -p no:cacheprovider --durations=5 \
            -k "$game" >"$logs/$game" 2>&1 &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    tail -n +1 "$logs"/* >"$out/check.log"
    tail -n 3 "$logs"/*
    return "$failed"
}

measure_in_turns() { # when a line comes in
    [ $# -gt 0 ] || set -- --quick
    python3 -m tests.cuda.in_turns "$out/results" "$@"
}

begin() { # GAME[:NETWORK]: its folder is the present one
    game=(--game "${1%%:*}") present=${1/:/-}
    [[ $1 != *:* ]] || game+=(--network "${1#*:}")
    ls "$out/$present".tar.* >/dev/null 2>&1 && cat "$out/$present".tar.* | tar -C "$out" -x
    mkdir -p "$out/$present"
}

pack() { # the present folder
    [ -d "$out/${present:=none}" ] || return 0
    rm -f "$out/$present.tar."*
    tar -C "$out" -c "$present" | split -b 15M - "$out/$present.tar." && rm -r "${out:?}/$present"
}

train() { # MINUTES OPTIONS
    python3 -m "azumaya.baselines.training.${SCRIPT:-ppo}" --device cuda "${game[@]}" \
        --time "$1min" --threads "$(nproc)" --output "$out/$present/run" --ladder-starts 0 "${@:2}" \
        2>&1 | (trap '' TERM && exec tee -a "$out/$present/log")
}

profile() { # OPTIONS
    python3 -m azumaya.benchmarks.studies.learning_profile --device cuda "${game[@]}" \
        --output "$out/$present/profile.svg" "$@" | tee "$out/$present/profile.md"
}

visit() { # MINUTES GAME[:NETWORK] ...
    local failed=0 each
    for each in "${@:2}"; do
        begin "$each"
        profile || failed=1
        train "$1" || failed=1
        pack
    done
    return "$failed"
}

trap 'exit 124' TERM # of `timeout`, when the command that is running has ended
trap pack EXIT
case $part in
visit | train | profile)
    export AZUMAYA_GAMES=azumaya.benchmarks.yardstick.connect_four
    ;;&
visit) probe && visit "$@" ;;
all)
    probe || exit
    mkfifo "$site/checked"
    measure_in_turns "$@" <"$site/checked" & measuring=$!
    exec 3>"$site/checked"
    check
    failed=$?
    echo >&3
    wait "$measuring" && exit "$failed"
    ;;
check) probe && check ;;
bench) echo | measure_in_turns "$@" ;;
train) begin "$1" && train "${@:2}" ;;
profile) begin "$1" && profile "${@:2}" ;;
run) "$@" ;;
caps)
    for cap in 96 128 168 255; do
        rm -rf "$site/azumaya/envs" && cp -r envs "$site/azumaya/envs"
        sed -i "s/^REGISTERS = .*/REGISTERS = $cap/" "$site/azumaya/envs/adapters/cuda/kernels.py"
        python3 -m azumaya.benchmarks --device cuda --quick --game sudoku_moyo \
            --output "$site/cap-$cap" && cp "$site/cap-$cap/report.md" "$out/cap-$cap.md"
    done
    ;;
*) echo "unknown part: $part" >&2 && exit 2 ;;
esac
