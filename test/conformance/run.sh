#!/bin/sh
# run.sh BIN DIR LIST [LAUNCHER]: holds the tools in BIN against LIST.txt of this
# folder, or meshes/LIST.txt of DIR
# (or of the environment's DTC_CONFORMANCE_DIR). Status 77, skipped, where there
# is no such folder.
set -eu
bin=$1 dir=${DTC_CONFORMANCE_DIR:-$2} list=$3
if [ ! -f "$dir/conformance/check.py" ]; then
  echo "skipped: no conformance/check.py in $dir; set DTC_CONFORMANCE_DIR to the folder that has it"
  exit 77
fi
launcher=${4:-}
if [ -n "$launcher" ] && ! command -v "${launcher%% *}" >/dev/null; then
  echo "skipped: no ${launcher%% *}"
  exit 77
fi
# Lists of this folder come first.
lines=$(dirname "$0")/$list.txt
[ -f "$lines" ] || lines=$dir/conformance/meshes/$list.txt
exec python3 "$dir/conformance/check.py" --bin "$bin" --launch "$launcher" --list "$lines" "$dir/goldens"
