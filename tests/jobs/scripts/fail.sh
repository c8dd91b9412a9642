#!/bin/sh
#SBATCH -J fail -o fail.out
#SBATCH -e fail.err   # Apart from the output.
echo before
echo "to the error file" >&2
exit 3
