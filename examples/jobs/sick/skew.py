"""A join of which one task has most rows.

Usage: spark-submit --conf spark.sql.shuffle.partitions=12 --conf spark.sql.adaptive.advisoryPartitionSizeInBytes=16m
           skew.py OUTPUT [ROUNDS [ROWS]]

OUTPUT is a folder and is overwritten. ROWS is the number of generated orders of
1 KiB each. Two of three orders have no customer, which is written as customer 0:
one task of the join with the customers reads them all. Adaptive execution splits
such a partition if it is larger than 256 MiB, by default; this one is a little smaller.
A lower spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes cures it.

It does so ROUNDS times, so that what it costs is more than runs of it differ by.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def join(spark: SparkSession, output: str, rows: int) -> None:
    orders = spark.range(0, rows, 1, 48).select(
        F.when(F.col("id") % 3 == 0, F.col("id") % 10007).otherwise(F.lit(0)).alias("customer"),
        F.expr("transform(sequence(1, 128), i -> xxhash64(id, i))").alias("items"),
    )
    customers = spark.range(0, 10007, 1, 2).select(F.col("id").alias("customer"), (F.col("id") % 7).alias("region"))
    joined = orders.join(customers.hint("merge"), "customer")
    price = F.expr("aggregate(items, 0L, (sum, item) -> sum + ascii(sha2(concat(item, '-', region), 256)))")
    joined.groupBy("region").agg(F.sum(price).alias("price")).write.mode("overwrite").parquet(output)


def main(output: str, rounds: int = 1, rows: int = 330_000) -> None:
    spark = SparkSession.builder.getOrCreate()
    for _ in range(rounds):
        join(spark, output, rows)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
