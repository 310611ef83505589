"""A small job that fails if its argument is 1, the number of a first try."""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("of Airflow").getOrCreate()
spark.range(1000).selectExpr("sum(id)").collect()
if sys.argv[1:] == ["1"]:
    raise ValueError("the first try fails")
spark.stop()
