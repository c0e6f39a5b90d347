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
    cache=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  run cmake -S "$root" --preset "$preset" -B "$folder" "${cache[@]}" "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "configuring $preset failed"
  }
}
