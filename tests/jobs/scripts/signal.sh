#!/bin/bash
#SBATCH -J signal -o signal.out
#SBATCH --time=1 --signal=B:USR1@20
trap 'echo "USR1: writes a checkpoint"; exit 7' USR1
echo started
while true; do sleep 1; done
