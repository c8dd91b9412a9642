#!/bin/sh
#SBATCH --job-name=echo
#SBATCH --output=echo.out
echo "hello from $SLURM_JOB_NAME"
echo "nodes $SLURM_NNODES, node $SLURM_NODEID, rank $SLURM_PROCID"
