#!/bin/sh
#SBATCH -J first -o dependency_first.out
sleep 2
echo "the first" | tee dependency.txt
