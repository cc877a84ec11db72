#!/bin/bash
#SBATCH --job-name=meds-cehrbert
#SBATCH --time=12:00:00
#SBATCH --mem=64G
#SBATCH --gres=gpu:1
echo "== job $SLURM_JOB_ID on $(hostname -s), cohort icu-mortality, model cehrbert =="
module load python/3.11.9-gcc-13.2
cd /lustre/home/hvdwal/meds/bench
python -m meds_bench.run model=cehrbert cohort=icu-mortality 2>&1 | tee logs/run.log
echo "== benchmark finished =="
