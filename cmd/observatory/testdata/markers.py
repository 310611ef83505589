"""Writes numbered lines from executors, one a second and task, until the file /tmp/markers-RUN is there.

What is missing of them was lost. Usage: markers.py RUN TASKS
"""
import os
import sys
import time

from pyspark.sql import SparkSession

run, tasks = sys.argv[1], int(sys.argv[2])
stop, at_once = f"/tmp/markers-{run}", 10


def lines_from(first):
    def work(task):
        for n in range(first, first + at_once):
            print(f"marker run={run} task={task} n={n};", file=sys.stderr, flush=True)
            time.sleep(1)

    return work


spark = SparkSession.builder.appName("markers").getOrCreate()
first = 0
while not os.path.exists(stop):
    spark.sparkContext.parallelize(range(tasks), tasks).foreach(lines_from(first))
    first += at_once
spark.stop()
