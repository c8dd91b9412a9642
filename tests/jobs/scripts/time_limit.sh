#!/bin/sh
#SBATCH --job-name=time_limit --time=0:30
#SBATCH -o time_limit.out -e time_limit.err
# Slurm rounds the limit up to a minute. It writes the end into the error file.
echo started
sleep 600
sleep 600  # When Slurm ends the first one before this shell.
echo "never written"
