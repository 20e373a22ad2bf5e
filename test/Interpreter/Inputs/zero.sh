#!/bin/sh
# zero.sh FOLDER [OPTIONS]...
#
# Holds the step of FOLDER/gpt2.mlir under the options of -dtc-training-pipeline,
# in every stage of ZeRO, against FOLDER/one.mlir. One line for each.
set -eu
folder=$1
shift
for options in "$@"; do
    for zero in 1 2 3 "3 zero3-reshard=step"; do
        dtc-opt "$folder/gpt2.mlir" "-dtc-training-pipeline=$options zero=$zero" -o "$folder/cut.mlir"
        # Cut it must be, or nothing is tested.
        grep -Eq 'dtc.read m of .*{(.*, )?(dp|cp):' "$folder/cut.mlir"
        if ! dtc-interpret "$folder/cut.mlir" --against "$folder/one.mlir" >"$folder/log" 2>&1; then
            echo "differs: $options zero=$zero"
            tail -n 5 "$folder/log"
            exit 1
        fi
        echo "equal: $options zero=$zero"
    done
done
