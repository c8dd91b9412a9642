#!/bin/sh
#SBATCH -J second -o dependency_second.out
#SBATCH --dependency=afterok:FIRST
# The caller replaces FIRST by the id of the first job.
cat dependency.txt
echo "the second"
