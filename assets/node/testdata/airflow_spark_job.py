"""The job that airflow_spark_dag.py submits."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
assert spark.range(100).repartition(3).count() == 100
spark.stop()
