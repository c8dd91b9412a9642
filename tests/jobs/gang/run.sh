#!/bin/sh
# The command of each rank of a gang: run.sh PROGRAM ARG... runs one process of MPI in the container of each rank.
# mpirun of rank 0 starts a daemon in each of the others; hand_over.sh takes its command there.
if [ "$RANK" = 0 ]; then
    exec mpirun --allow-run-as-root --host "$HOSTLER_PEERS" -np "$WORLD_SIZE" --leave-session-attached \
        --mca pml ob1 --mca btl tcp,self --mca plm_rsh_agent /bin/hand_over.sh --mca plm_rsh_no_tree_spawn 1 "$@"
fi
command=$(nc -l -p "$MASTER_PORT")
exec sh -c "$command"
