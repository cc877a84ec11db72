#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --gpus-per-node=8 --time=12:00:00
srun --kill-on-bad-exit=0 --output=rank-%t.log /ws/venv/bin/python /ws/asr/train.py
