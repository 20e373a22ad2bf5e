#!/bin/sh
# compare.sh FOLDER MODEL.json IMPORT-FLAGS [MESH LAYOUT SP ATTENTION AGAIN MICROBATCHES]...
#
# Imports a model and holds the partitioned step, before and after its
# communication is expanded, against the step of one device: loss, count of
# labels and every gradient. Each case is one argument of six words.
set -eu
folder=$1 model=$2 flags=$3
shift 3
mkdir -p "$folder"
# shellcheck disable=SC2086
dtc-import "$model" $flags -o "$folder/model.mlir"
dtc-opt "$folder/model.mlir" -dtc-propagate-sharding -dtc-insert-collectives \
    -dtc-microbatch -dtc-differentiate -o "$folder/one.mlir"
for case in "$@"; do
    # shellcheck disable=SC2086
    set -- $case
    dtc-opt "$folder/model.mlir" "-dtc-layout-sequence=layout=$2 mesh=$1" \
        "-dtc-propagate-sharding=mesh=$1 sequence-parallel=$3" -dtc-insert-collectives \
        "-dtc-microbatch=count=$6" "-dtc-differentiate=gather-again=$5" -o "$folder/typed.mlir"
    dtc-opt "$folder/typed.mlir" "-dtc-expand-communication=attention=$4" -o "$folder/expanded.mlir"
    for program in typed expanded; do
        if ! dtc-interpret "$folder/$program.mlir" --against "$folder/one.mlir" >"$folder/log" 2>&1; then
            echo "differs: $program, $case"
            tail -n 5 "$folder/log"
            exit 1
        fi
        echo "equal: $program, $case"
    done
done
