"""A join of which one task has most rows.

Usage: spark-submit --conf spark.sql.shuffle.partitions=12 --conf spark.sql.adaptive.advisoryPartitionSizeInBytes=16m
           skew.py OUTPUT [ROWS]

OUTPUT is a folder and is overwritten. ROWS is the number of generated orders of
1 KiB each. Two of three orders have no customer, which is written as customer 0:
one task of the join with the customers reads them all. Adaptive execution splits
such a partition if it is larger than 256 MiB, by default; this one is a little smaller.
A lower spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes cures it.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(output: str, rows: int) -> None:
    spark = SparkSession.builder.getOrCreate()
    orders = spark.range(0, rows, 1, 48).select(
        F.when(F.col("id") % 3 == 0, F.col("id") % 10007).otherwise(F.lit(0)).alias("customer"),
        F.expr("transform(sequence(1, 128), i -> xxhash64(id, i))").alias("items"),
    )
    customers = spark.range(0, 10007, 1, 2).select(F.col("id").alias("customer"), (F.col("id") % 7).alias("region"))
    joined = orders.join(customers.hint("merge"), "customer")
    price = F.expr("aggregate(items, 0L, (sum, item) -> sum + ascii(sha2(concat(item, '-', region), 256)))")
    joined.groupBy("region").agg(F.sum(price).alias("price")).write.mode("overwrite").parquet(output)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 330_000)
