#!/bin/sh
# stages.sh FOLDER MODEL.json IMPORT-FLAGS [OPTIONS]...
#
# Imports a model and holds whole training steps, cut in pipeline stages as the
# options of -dtc-training-pipeline say, against the step of one device that is
# not cut, before and after the backward is split. One line for each.
set -eu
folder=$1 model=$2 flags=$3
shift 3
mkdir -p "$folder"
# shellcheck disable=SC2086
dtc-import "$model" $flags -o "$folder/model.mlir"
dtc-opt "$folder/model.mlir" -dtc-training-pipeline -o "$folder/one.mlir"
for options in "$@"; do
    for split in false true; do
        dtc-opt "$folder/model.mlir" "-dtc-training-pipeline=$options split-backward=$split" -o "$folder/cut.mlir"
        # Cut it must be, or nothing is tested.
        grep -q 'dtc.stage = 1' "$folder/cut.mlir"
        if ! dtc-interpret "$folder/cut.mlir" --against "$folder/one.mlir" >"$folder/log" 2>&1; then
            echo "differs: $options split-backward=$split"
            tail -n 5 "$folder/log"
            exit 1
        fi
        echo "equal: $options split-backward=$split"
    done
done
