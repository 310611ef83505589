"""Does everything that the dashboard Job Phase Timeline shows of a healthy job.

Usage: panels.py OUTPUT, a folder of S3 in which each application has one of its own.
"""
import hashlib
import os
import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("panels").getOrCreate()
sc = spark.sparkContext
output = sys.argv[1] + "/" + sc.applicationId


def fails_once(task):
    """Fails in the first attempt of task 0."""
    if task == 0 and TaskContext.get().attemptNumber() == 0:
        raise RuntimeError("this task fails once")


def compute(task):
    fails_once(task)
    if not hasattr(sys, "held"):  # each core's first task: each core has a Python worker
        sys.held = True
        time.sleep(12)  # longer than the time between two exports, which read how many executors are active and pending
    for _ in range(300_000):
        hashlib.sha256(b"x").digest()


def fails(task):
    if task == 0:
        raise RuntimeError("this task always fails")
    time.sleep(60)  # until Spark kills it with its stage


def lines(task):
    for _ in range(12):
        yield "x" * (1 << 20)
    fails_once(task)


def executors():
    return sc._jsc.sc().getExecutorMemoryStatus().size() - 1  # without the driver


# More tasks than the cluster has room for: executors stay pending, cores are missing.
sc.parallelize(range(24), 24).foreach(compute)
try:
    sc.parallelize(range(2), 2).foreach(fails)
except Exception as e:
    print("a stage failed:", type(e).__name__)
# Results that are too large for the message that says a task has ended.
sc.parallelize(range(4), 4).map(lambda _: os.urandom(4 << 20)).collect()

# A shuffle to partitions of which one is much larger than memory; a write whose commit renames.
key = F.when(F.col("id") % 10 < 6, F.lit(0)).otherwise(F.col("id") % 40)
text = F.concat(F.sha2(F.col("id").cast("string"), 256), F.sha2(F.col("id").cast("string"), 512))
rows = spark.range(0, 400_000, 1, 8).select("id", key.alias("key"), text.alias("text"))
rows.repartition(8, "key").sortWithinPartitions("text").write.mode("overwrite").parquet(output + "/rows")

# A write of multipart uploads, with the magic committer. One task fails, its upload is aborted.
magic = {
    "mapreduce.outputcommitter.factory.scheme.s3": "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
    "fs.s3a.committer.name": "magic",
}
sc.parallelize(range(4), 4).flatMap(lines).map(lambda line: (None, line)).saveAsNewAPIHadoopFile(
    output + "/lines", "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat",
    keyClass="org.apache.hadoop.io.NullWritable", valueClass="org.apache.hadoop.io.Text", conf=magic)

# A stream of two micro-batches.
stream = spark.readStream.schema("id long, key long, text string").option("maxFilesPerTrigger", 4).parquet(output + "/rows")
stream.writeStream.format("noop").option("checkpointLocation", output + "/checkpoint").trigger(availableNow=True).start().awaitTermination()

# Nothing more to do: dynamic allocation removes the executors.
until = time.time() + 60
while executors() > 0 and time.time() < until:
    time.sleep(0.2)
print("executors left:", executors())
spark.stop()
