spark-submit --master yarn --deploy-mode cluster \
  --executor-memory 10g --executor-cores 4 --num-executors 20 \
  --class a.b.Join join.jar /data/in /data/out
