"""A small ETL job with a skewed join, which `make up` runs.

Usage: orders.py OUTPUT [ROWS]

OUTPUT is a folder (s3://bucket/lake/orders) and is overwritten. ROWS is the
number of generated orders. Eight of ten orders belong to one customer, so one
task of the join runs much longer than the others.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(output: str, rows: int) -> None:
    spark = SparkSession.builder.appName("orders").getOrCreate()
    orders = (
        spark.range(0, rows, 1, 8)
        .withColumn("customer", F.when(F.col("id") % 10 < 8, F.lit(7)).otherwise(F.col("id") % 1000))
        .withColumn("digest", F.sha2(F.col("id").cast("string"), 256))
    )
    customers = orders.groupBy("customer").agg(F.count("*").alias("orders"), F.max("digest").alias("last"))
    joined = orders.join(customers.hint("merge"), "customer").select("id", "customer", "orders", F.md5("digest").alias("digest"))
    joined.write.mode("overwrite").parquet(output)
    written = spark.read.parquet(output).count()
    spark.stop()
    if written != rows:
        sys.exit(f"{output}: {written} rows, expected {rows}")
    print(f"{output}: {written} rows")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
