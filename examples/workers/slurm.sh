#!/bin/bash
# An array of workers under Slurm, four processors each, on a shared home directory:
#   sbatch --array=1-10 slurm.sh coordinator.example:4711 "$PWD/cup/workers.token"
# A job that is cancelled or out of time returns its sets: SIGTERM comes 30 s before SIGKILL.
#SBATCH --job-name=referee-worker
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@30
exec srun referee worker --connect "$1" --token-file "$2" --slots "$SLURM_CPUS_PER_TASK" \
    --name "slurm-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID" --cache "${TMPDIR:-/tmp}/referee-bots" --until-empty
