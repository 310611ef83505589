"""A job whose tasks wait for each block of a shuffle.

Usage: spark-submit --conf spark.reducer.maxSizeInFlight=256k shuffle.py OUTPUT [ROWS]

OUTPUT is a folder and is overwritten. ROWS is the number of generated events of
1 KiB each, which a shuffle brings together by device. Somebody has lowered how much a
task asks for at once, to save memory: it asks for one block, waits for it, and only
then for the next. A higher value cures it.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(output: str, rows: int) -> None:
    spark = SparkSession.builder.getOrCreate()
    events = spark.range(0, rows, 1, 64).select(
        (F.col("id") * 7919 % 10007).alias("device"),
        F.expr("transform(sequence(1, 128), i -> xxhash64(id, i))").alias("readings"),
    )
    most = events.repartition(64, "device").groupBy("device").agg(F.max(F.array_max("readings")).alias("most"))
    most.agg(F.min("most").alias("least")).write.mode("overwrite").parquet(output)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
