#!/bin/bash
# Runs each of the scripts by `hostler run`, all at once, as by_sbatch.sh does by Slurm:
#   by_hostler.sh SCRIPTS FOLDER HOSTLER RUN-OPTION...
# The two of the dependency share the volume "dependency" at /work, the working directory of the image.
set -eu
scripts=$(realpath "$1") folder=$(realpath "$2")
shift 2

run() {  # NAME SCRIPT OPTION...
    mkdir -p "$folder/$1"
    cd "$folder/$1"
    local code=0 script=$2
    shift 2
    "${hostler[@]}" "$@" "$script" >hostler.out 2>hostler.log || code=$?
    echo "$code" >code
}
hostler=("$@")
for script in "$scripts"/*.sh; do
    name=$(basename "$script" .sh)
    case $name in dependency_*) continue ;; esac
    run "$name" "$script" &
    waited+=($!)
done
mkdir -p "$folder/dependency"
cd "$folder/dependency"
"${hostler[@]}" --volume dependency:/work --name first "$scripts/dependency_first.sh" 2>first.log &
waited+=($!)
sed "s/FIRST/first/" "$scripts/dependency_second.sh" >second
until grep -q submitted first.log; do
    kill -0 "${waited[-1]}"
    sleep 0.1
done
run dependency "$folder/dependency/second" --volume dependency:/work
wait "${waited[@]}"
