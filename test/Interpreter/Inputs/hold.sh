#!/bin/sh
# hold.sh KIND FOLDER MODEL.json IMPORT-FLAGS [OPTIONS]...
#
# Imports a model and holds whole training steps, as -dtc-training-pipeline makes
# them of the options, against the step of one device. One line for each. KIND is
# what must be seen in each program, or nothing is tested, and which variants of
# the options there are:
#   stages     cut in pipeline stages, before and after the backward is split
#   schedules  in the order of a schedule
#   zero       optimizer state cut over dp or cp, in every stage of ZeRO
set -eu
kind=$1 folder=$2 model=$3 flags=$4
shift 4
case $kind in
stages) variants='split-backward=false|split-backward=true' mark='dtc.stage = 1' ;;
schedules) variants='' mark='dtc.micro_batches .* schedule @' ;;
zero) variants='zero=1|zero=2|zero=3|zero=3 zero3-reshard=step' mark='dtc.read m of .*{(.*, )?(dp|cp):' ;;
*) echo "hold.sh: unknown kind '$kind'" >&2 && exit 2 ;;
esac
mkdir -p "$folder"
# shellcheck disable=SC2086
dtc-import "$model" $flags -o "$folder/model.mlir"
dtc-opt "$folder/model.mlir" -dtc-training-pipeline -o "$folder/one.mlir"
for options in "$@"; do
    echo "$variants" | tr '|' '\n' | while read -r variant; do
        all="$options${variant:+ $variant}"
        dtc-opt "$folder/model.mlir" "-dtc-training-pipeline=$all" -o "$folder/many.mlir"
        grep -Eq "$mark" "$folder/many.mlir"
        if ! dtc-interpret "$folder/many.mlir" --against "$folder/one.mlir" >"$folder/log" 2>&1; then
            echo "differs: $all"
            tail -n 5 "$folder/log"
            exit 1
        fi
        echo "equal: $all"
    done
done
