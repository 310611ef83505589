"""A write of very many small files.

Usage: spark-submit write.py OUTPUT [DAYS] [--cured]

OUTPUT is a folder (s3://bucket/events) and is overwritten. The job writes events by
day, and each of its tasks has events of each of the DAYS days: it writes a file per
task and day, and waits for the store several times per file. With --cured it
partitions the events by day first, so that it writes a file per day.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(output: str, days: int, cured: bool) -> None:
    spark = SparkSession.builder.getOrCreate()
    events = spark.range(0, 200_000, 1, 12).select((F.col("id") % days).alias("day"), "id", F.hash("id").alias("reading"))
    if cured:
        events = events.repartition(12, "day")
    events.write.mode("overwrite").partitionBy("day").parquet(output)
    spark.stop()


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--cured"]
    if not arguments:
        sys.exit(__doc__)
    main(arguments[0], int(arguments[1]) if len(arguments) > 1 else 20, "--cured" in sys.argv)
