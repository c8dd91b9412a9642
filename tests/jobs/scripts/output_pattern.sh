#!/bin/sh
#SBATCH --job-name="a name"
#SBATCH --output=%x-%%-%u.out
echo "in a file that is named by a pattern"
