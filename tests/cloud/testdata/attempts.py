"""Fails in its first attempt, in cluster mode."""
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("history-attempts").getOrCreate()
spark.range(0, 1000, 1, 2).count()
if spark.sparkContext._jsc.sc().applicationAttemptId().get() == "1":
    sys.exit("the first attempt fails")
spark.stop()
