"""A job of three faults: skew, a Python UDF and many small files.

Usage: spark-submit --conf spark.sql.shuffle.partitions=12 --conf spark.sql.adaptive.advisoryPartitionSizeInBytes=16m
           faults.py OUTPUT [--cured]

OUTPUT is a folder (s3://bucket/orders) and is overwritten. Of the orders, 1 KiB each,
85 % have no customer, which is written as customer 0: one task of the join with the
customers reads them all. A function in Python prices each order, row by row. The orders
are then written as 580 files. With --cured a built-in function prices them, and
Spark decides how many files are written; a lower
spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes cures the skew.
"""
import hashlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

BUILT_IN = """aggregate(items, 0L, (sum, item) -> sum
    + ascii(sha2(concat(item, '-', region), 256)) * ascii(sha2(concat(region, '-', item), 256))
    * ascii(sha2(concat(item, ''), 256)) * ascii(sha2(concat(item, '+'), 256)))"""


def digit(text: str) -> int:
    return ord(hashlib.sha256(text.encode()).hexdigest()[0])


@F.udf(LongType())
def price(items: list[int], region: int) -> int:
    return sum(digit(f"{item}-{region}") * digit(f"{region}-{item}") * digit(f"{item}") * digit(f"{item}+") for item in items)


def main(output: str, cured: bool) -> None:
    spark = SparkSession.builder.getOrCreate()
    orders = spark.range(0, 240_000, 1, 48).select(
        F.when(F.col("id") % 20 < 3, F.col("id") % 10007).otherwise(F.lit(0)).alias("customer"),
        F.expr("transform(sequence(1, 128), i -> xxhash64(id, i))").alias("items"),
    )
    customers = spark.range(0, 10007, 1, 2).select(F.col("id").alias("customer"), (F.col("id") % 7).alias("region"))
    joined = orders.join(customers.hint("merge"), "customer")
    priced = joined.select("customer", "region", (F.expr(BUILT_IN) if cured else price("items", "region")).alias("price"))
    written = priced.hint("rebalance") if cured else priced.repartition(580)
    written.write.mode("overwrite").parquet(output)
    spark.stop()


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--cured"]
    if not arguments:
        sys.exit(__doc__)
    main(arguments[0], "--cured" in sys.argv)
