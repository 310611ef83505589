"""Kills its driver after one job."""
import os
import signal

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("history-killed").getOrCreate()
print("history:", "history-killed", spark.sparkContext.applicationId, flush=True)
spark.range(0, 1000, 1, 2).count()
os.kill(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
