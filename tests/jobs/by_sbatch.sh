#!/bin/bash
# Runs each of the scripts by a Slurm of its own through `sbatch --wait`, all at once:
#   by_sbatch.sh SCRIPTS FOLDER PORT
# FOLDER/NAME has the files of script NAME, and FOLDER/NAME/code its exit code. The two of the dependency share one.
set -eu
scripts=$(realpath "$1") folder=$(realpath "$2") port=$3
slurm=$(mktemp -d /tmp/hostler-slurm-XXXXXX)
mkdir "$slurm"/{state,spool}
host=$(hostname -s)
cat >"$slurm/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MaxArraySize=10001
NodeName=$host NodeAddr=127.0.0.1 CPUs=64 RealMemory=100000
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$slurm/slurm.conf
daemons=()
stop() {
    kill -9 "${daemons[@]}" 2>/dev/null || true
    # Of a script that was killed with its daemon.
    for step in $(pgrep -x slurmstepd || true); do
        tr '\0' '\n' <"/proc/$step/environ" 2>/dev/null | grep -qx "SLURM_CONF=$SLURM_CONF" && kill -9 "$step" || true
    done
    rm -rf "$slurm"
}
trap stop EXIT
slurmctld -D >/dev/null 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >/dev/null 2>&1 &
daemons+=($!)
for _ in $(seq 200); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
    sleep 0.1
done
[ "$(sinfo -h -o %T)" = idle ] || { tail -n 20 "$slurm"/*.log; exit 1; }

run() {  # NAME SCRIPT
    mkdir -p "$folder/$1"
    cd "$folder/$1"
    local code=0
    NOT_EXPORTED=1 sbatch --wait "$2" >sbatch.log 2>&1 || code=$?
    echo "$code" >code
}
for script in "$scripts"/*.sh; do
    name=$(basename "$script" .sh)
    case $name in dependency_*) continue ;; esac
    run "$name" "$script" &
    waited+=($!)
done
mkdir -p "$folder/dependency"
cd "$folder/dependency"
first=$(sbatch --parsable "$scripts/dependency_first.sh")
sed "s/FIRST/$first/" "$scripts/dependency_second.sh" >second
run dependency second
wait "${waited[@]}"
