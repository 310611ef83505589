"""A job whose tasks hold more than fits into their memory.

Usage: spark-submit --conf spark.sql.shuffle.partitions=2 spill.py OUTPUT [ROUNDS [ROWS]]

OUTPUT is a folder and is overwritten. ROWS is the number of generated events of
1 KiB each. The job finds the time between the events of each device, which sorts
each partition of a shuffle: with two partitions a task sorts half of all events,
most of which it writes to disk. More partitions cure it.

It does so ROUNDS times, so that what it costs is more than runs of it differ by.
"""
import sys

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F


def sort(spark: SparkSession, output: str, rows: int) -> None:
    events = spark.range(0, rows, 1, 48).select(
        (F.col("id") * 7919 % 10007).alias("device"),
        F.hash("id").alias("time"),
        F.expr("transform(sequence(1, 128), i -> xxhash64(id, i))").alias("readings"),
    )
    before = F.lag("time").over(Window.partitionBy("device").orderBy("time"))
    gaps = events.withColumn("gap", F.col("time") - before)
    groups = gaps.groupBy((F.col("device") % 10).alias("group"))
    groups.agg(F.avg("gap").alias("gap"), F.max(F.col("readings")[0]).alias("most")).write.mode("overwrite").parquet(output)


def main(output: str, rounds: int = 1, rows: int = 1_000_000) -> None:
    spark = SparkSession.builder.getOrCreate()
    for _ in range(rounds):
        sort(spark, output, rows)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
