"""Keeps its executors busy with little work, a shuffle each time, until the file /tmp/end-RUN exists.

Usage: waits.py RUN
"""
import os
import sys
import time

from pyspark.sql import SparkSession


def of_key(i):
    time.sleep(2)
    return i % 4, i


spark = SparkSession.builder.appName("waits").getOrCreate()
while not os.path.exists(f"/tmp/end-{sys.argv[1]}"):
    spark.sparkContext.parallelize(range(8), 8).map(of_key).reduceByKey(max, 4).collect()
spark.stop()
