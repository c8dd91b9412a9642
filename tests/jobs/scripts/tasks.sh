#!/bin/sh
#SBATCH --job-name=tasks --ntasks=3 --cpus-per-task=2
#SBATCH -o tasks.out
# The script runs once; it starts its tasks itself.
rank=0
while [ "$rank" -lt "$SLURM_NTASKS" ]; do
    echo "task $rank with $SLURM_CPUS_PER_TASK CPUs"
    rank=$((rank + 1))
done
