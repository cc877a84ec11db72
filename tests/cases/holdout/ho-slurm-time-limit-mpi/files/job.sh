#!/bin/bash
#SBATCH -N 2
#SBATCH -n 64
#SBATCH -t 04:00:00
#SBATCH -J bbh2
module load openmpi/4.1.5
srun ./evolve in.yaml
