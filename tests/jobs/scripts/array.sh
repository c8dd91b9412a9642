#!/bin/sh
#SBATCH --job-name=array --array=2-8:3%2
#SBATCH --output=%x_%a.out
echo "index $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT"
echo "from $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX by $SLURM_ARRAY_TASK_STEP"
