"""Runs applications of every kind that a history must hold, one after the other.

Usage: history.py OUTPUT [one|all|compacted]

OUTPUT is a folder of S3. With one, only the first; with all, also those that take long; with
compacted, only one whose log rolls.
"""
import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

output = sys.argv[1]
canary = "k4n4ry"  # a secret: it must not get into the tables


def application(name, job, **properties):
    builder = SparkSession.builder.appName(name)
    for key, value in properties.items():
        builder = builder.config(key.replace("_", "."), value)
    spark = builder.getOrCreate()
    print("history:", name, spark.sparkContext.applicationId, flush=True)
    try:
        job(spark)
    finally:
        spark.stop()


def python_udf(spark):
    twice = F.udf(lambda n: 2 * n, LongType())
    spark.range(0, 20_000, 1, 4).select(twice("id").alias("n")).agg(F.sum("n")).collect()
    statement = f"select 'jdbc:postgresql://etl:{canary}@db/orders' as url, 'password={canary}' as options"
    spark.sparkContext.setJobDescription(statement)  # as Spark's thrift server and notebooks do
    spark.sql(statement).collect()


def skewed(spark):
    key = F.when(F.col("id") % 100 < 97, F.lit(0)).otherwise(F.col("id"))
    rows = spark.range(0, 3_000_000, 1, 8).select(key.alias("key"), F.sha2(F.col("id").cast("string"), 256).alias("digest"))
    rows.repartition(8, "key").sortWithinPartitions("digest").write.format("noop").mode("overwrite").save()


def spilling(spark):
    rows = spark.range(0, 200_000, 1, 2).select("id", F.sha2(F.col("id").cast("string"), 512).alias("text"))
    rows.repartition(2, "text").sortWithinPartitions("text").write.mode("overwrite").parquet(output + "/spilled")


def streaming(spark):
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100).load()
    query = stream.writeStream.format("noop").option("checkpointLocation", output + "/checkpoint").start()
    while query.lastProgress is None or query.lastProgress["batchId"] < 2:
        query.awaitTermination(1)
    query.stop()


def many_stages(spark):
    numbers = spark.sparkContext.parallelize(range(2), 2)
    for _ in range(1000):
        numbers.count()


def fails(spark):
    def divide(n):
        if TaskContext.get().partitionId() == 1:
            raise ZeroDivisionError("this task always fails")
        return n

    try:
        spark.sparkContext.parallelize(range(4), 4).map(divide).count()
    except Exception as e:
        print("history: the job failed:", type(e).__name__)


if "compacted" in sys.argv:
    application("history-compacted", many_stages, spark_eventLog_rolling_enabled="true", spark_eventLog_rolling_maxFileSize="10m")
    sys.exit()
application("history-udf", python_udf, spark_observatory_test_password=canary, spark_executorEnv_PGPASSWORD=canary)
if "one" in sys.argv:
    sys.exit()
application("history-skewed", skewed, spark_sql_adaptive_enabled="false")
application("history-spilling", spilling, spark_shuffle_spill_numElementsForceSpillThreshold="20000")
application("history-streaming", streaming)
application("history-failed", fails)
rolled = {"spark_eventLog_rolling_enabled": "true", "spark_eventLog_rolling_maxFileSize": "10m", "spark_eventLog_compress": "true",
          "spark_eventLog_compression_codec": "zstd"}
application("history-rolling", python_udf, **rolled)
if "all" in sys.argv:
    application("history-stages", many_stages)
    application("history-rolled-stages", many_stages, **rolled)
    application("history-lz4", python_udf, spark_eventLog_compress="true", spark_eventLog_compression_codec="lz4")
    application("history-snappy", python_udf, spark_eventLog_compress="true", spark_eventLog_compression_codec="snappy")
