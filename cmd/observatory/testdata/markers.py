"""Writes numbered lines from executors at a steady pace: what is missing of them was lost.

Usage: markers.py RUN TASKS SECONDS
"""
import sys
import time

from pyspark.sql import SparkSession

run, tasks, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def work(task):
    for n in range(seconds):
        print(f"marker run={run} task={task} n={n};", file=sys.stderr, flush=True)
        time.sleep(1)


spark = SparkSession.builder.appName("markers").getOrCreate()
spark.sparkContext.parallelize(range(tasks), tasks).foreach(work)
spark.stop()
