"""A job whose tasks wait for each block of a shuffle.

Usage: spark-submit --conf spark.reducer.maxSizeInFlight=64k shuffle.py OUTPUT [ROUNDS [ROWS]]

OUTPUT is a folder and is overwritten. ROWS is the number of generated events of
1 KiB each, which a shuffle brings together by device. Somebody has lowered how much a
task asks for at once, to save memory: it asks for one block, waits for it, and only
then for the next. A higher value cures it.

It does so ROUNDS times, so that what it costs is more than runs of it differ by.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def shuffle(spark: SparkSession, output: str, rows: int) -> None:
    events = spark.range(0, rows, 1, 96).select(
        (F.col("id") * 7919 % 10007).alias("device"),
        F.expr("transform(sequence(1, 128), i -> xxhash64(id, i))").alias("readings"),
    )
    most = events.repartition(96, "device").groupBy("device").agg(F.max(F.col("readings")[0]).alias("most"))
    most.agg(F.min("most").alias("least")).write.mode("overwrite").parquet(output)


def main(output: str, rounds: int = 1, rows: int = 1_000_000) -> None:
    spark = SparkSession.builder.getOrCreate()
    for _ in range(rounds):
        shuffle(spark, output, rows)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
