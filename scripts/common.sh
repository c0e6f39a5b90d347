# Shared by the scripts beside it. Sourced, never run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export root

say() { printf '== %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# run COMMAND…: runs it so that a signal sent to this script alone reaches it at once. (Bash would put a trap off
# until its foreground command ends.) Exits 128 + N after signal N, when the command has ended.
run() {
  if [[ -t 0 ]]; then # It may read the terminal, and Ctrl-C reaches it by itself.
    "$@"
    return
  fi
  local status=0
  run_caught=0
  set -m # A process group of its own, in which SIGINT is not ignored.
  "$@" &
  run_child=$!
  set +m
  trap 'run_caught=2; kill -INT -- "-$run_child" 2>/dev/null || :' INT
  trap 'run_caught=15; kill -TERM -- "-$run_child" 2>/dev/null || :' TERM
  trap 'run_caught=1; kill -HUP -- "-$run_child" 2>/dev/null || :' HUP
  while :; do
    status=0
    wait "$run_child" || status=$?
    kill -0 "$run_child" 2>/dev/null || break
  done
  trap - INT TERM HUP
  if ((run_caught)); then
    exit $((128 + run_caught))
  fi
  return "$status"
}

# beside COMMAND…: starts it in a process group of its own and goes on; its number is the last of ${besides[@]}. What is left of
# them must be ended by end_besides, in a trap on EXIT.
besides=()
beside() {
  # Else a trap on EXIT would not run.
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
  set -m # its signals are not ignored
  "$@" &
  besides+=($!)
  set +m
}
end_besides() {
  local pid
  for pid in "${besides[@]}"; do
    kill -TERM -- "-$pid" 2>/dev/null || :
  done
  wait
}

# build_folder PRESET: where it is built. Another user's folder cannot be shared: IDEM_BUILD_DIR names another.
build_folder() {
  local folder=${IDEM_BUILD_DIR:-$root/build}/$1
  mkdir -p "$folder" 2>/dev/null || :
  [[ -w $folder && -O $folder ]] ||
    die "cannot build in $folder (is it another user's?): set IDEM_BUILD_DIR to a folder of your own"
  printf '%s\n' "$folder"
}

# configure PRESET FOLDER [cmake arguments…]
configure() {
  local preset=$1 folder=$2 cache=()
  shift 2
  if command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 # the same objects for every clone
    # What a source includes is read from what the compiler tells of it, so that it is not preprocessed twice; precompiled
    # headers are an input like others.
    export CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    cache=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  run cmake -S "$root" --preset "$preset" -B "$folder" "${cache[@]}" "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "configuring $preset failed"
  }
}

# step NAME COMMAND…: runs COMMAND and counts what came of it: its tests, where its last line is scripts/test's, else
# itself as one. Never fails; `summary` does.
sum_passed=0 sum_failed=0 sum_skipped=0 steps=()
step() {
  local name=$1 log status=0 started=$SECONDS passed=0 failed=0 skipped=0 output output_pid
  shift
  say "$name"
  log=$(mktemp)
  exec {output}> >(exec tee "$log")
  output_pid=$!
  run "$@" >&"$output" 2>&1 {output}>&- || status=$?
  exec {output}>&-
  wait "$output_pid" || :
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[3]}
  elif ((status == 0)); then
    passed=1
  fi
  if ((status != 0 && failed == 0)); then
    failed=1
  fi
  rm -f "$log"
  sum_passed=$((sum_passed + passed)) sum_failed=$((sum_failed + failed)) sum_skipped=$((sum_skipped + skipped))
  steps+=("$(printf '%-44s %5d passed %3d failed %3d skipped %5d s' \
    "$name" "$passed" "$failed" "$skipped" $((SECONDS - started)))")
}

# summary: each step in a line, the sum in the last; fails if anything failed or nothing passed.
summary() {
  printf '\n'
  printf '%s\n' "${steps[@]}"
  printf '%d passed, %d failed, %d skipped\n' "$sum_passed" "$sum_failed" "$sum_skipped"
  ((sum_failed == 0 && sum_passed > 0))
}
