"""A job that asks for an executor that the cluster has no room for.

Usage: spark-submit --conf spark.executor.memory=4g wait.py OUTPUT [ROWS]

OUTPUT is a folder and is overwritten. ROWS is the number of generated events. It
computes for some seconds; while another application holds most of the cluster,
YARN has room for small executors only, and this one waits for the other to end.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(output: str, rows: int) -> None:
    spark = SparkSession.builder.getOrCreate()
    events = spark.range(0, rows, 1, 4).select((F.col("id") % 1000).alias("device"), F.hash("id").alias("reading"))
    events.groupBy("device").agg(F.avg("reading").alias("mean")).write.mode("overwrite").parquet(output)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000)
