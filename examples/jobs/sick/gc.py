"""A job whose tasks keep more objects than their heap has room for.

Usage: spark-submit --conf spark.executor.memory=512m --conf spark.sql.shuffle.partitions=8 gc.py OUTPUT [ROUNDS [ROWS]]

OUTPUT is a folder and is overwritten. ROWS is the number of generated events. The
job collects the digests of each device's events into a list: the lists of a task
almost fill its heap, and the collector runs again and again to find room for the
next one. A larger heap cures it.

It does so ROUNDS times, so that what it costs is more than runs of it differ by.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def collect(spark: SparkSession, output: str, rows: int) -> None:
    digest = F.repeat(F.md5(F.col("id").cast("string")), 8)
    events = spark.range(0, rows, 1, 24).select((F.col("id") * 7919 % 400).alias("device"), digest.alias("digest"))
    fingerprint = F.max(F.xxhash64(*["digest"] * 60)).alias("fingerprint")
    devices = events.repartition("device").groupBy("device").agg(F.collect_list("digest").alias("digests"), fingerprint)
    devices.select("device", F.size("digests").alias("events"), "fingerprint").write.mode("overwrite").parquet(output)


def main(output: str, rounds: int = 1, rows: int = 7_600_000) -> None:
    spark = SparkSession.builder.getOrCreate()
    for _ in range(rounds):
        collect(spark, output, rows)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
