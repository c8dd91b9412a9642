#!/bin/bash
#SBATCH -J environment -o environment.out
#SBATCH --export=PATH,GREETING="hello world",EMPTY=
echo "$GREETING"
echo "${EMPTY-unset}"
echo "${NOT_EXPORTED-unset}"
