#!/bin/sh
# schedules.sh FOLDER MODEL.json IMPORT-FLAGS [OPTIONS]...
#
# Imports a model and runs whole training steps in the order of their schedules,
# which -dtc-training-pipeline makes as the options say, against the step of one
# device. One line for each.
set -eu
folder=$1 model=$2 flags=$3
shift 3
mkdir -p "$folder"
# shellcheck disable=SC2086
dtc-import "$model" $flags -o "$folder/model.mlir"
dtc-opt "$folder/model.mlir" -dtc-training-pipeline -o "$folder/one.mlir"
for options in "$@"; do
    dtc-opt "$folder/model.mlir" "-dtc-training-pipeline=$options" -o "$folder/scheduled.mlir"
    # Scheduled it must be, or nothing is tested.
    grep -q 'dtc.micro_batches .* schedule @' "$folder/scheduled.mlir"
    if ! dtc-interpret "$folder/scheduled.mlir" --against "$folder/one.mlir" >"$folder/log" 2>&1; then
        echo "differs: $options"
        tail -n 5 "$folder/log"
        exit 1
    fi
    echo "equal: $options"
done
