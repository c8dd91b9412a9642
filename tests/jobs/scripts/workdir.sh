#!/bin/sh
#SBATCH -J workdir
#SBATCH --chdir=/tmp
#SBATCH --output=/tmp/hostler_workdir.out
pwd
