"""Does the work that a preset is for, and requires that the cluster has what the preset sets.

Usage: kinds.py KIND OUTPUT [PROPERTY=VALUE]...

KIND is batch, cache, sort, stream or sql. OUTPUT is a folder, which is overwritten. A PROPERTY is one of
Spark's, or of Hadoop's if its name does not begin with "spark.".
"""
import sys

from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = 200_000


def batch(spark, output):
    spark.range(0, ROWS, 1, 4).groupBy(F.col("id") % 100).count().write.mode("overwrite").parquet(output)
    return spark.read.parquet(output).agg(F.sum("count")).first()[0]


def cache(spark, output):
    """A join of cached rows with themselves, twice."""
    rows = spark.range(0, ROWS, 1, 4).withColumn("key", F.col("id") % 1000).persist(StorageLevel.MEMORY_ONLY)
    rows.count()
    joined = rows.join(rows.groupBy("key").count().hint("merge"), "key")
    joined.write.mode("overwrite").parquet(output)
    return spark.read.parquet(output).count()


def sort(spark, output):
    """A shuffle of every row, and a file in HDFS."""
    folder = "hdfs:///tmp/kinds-sorted"
    spark.range(0, ROWS, 1, 4).withColumn("digest", F.sha2(F.col("id").cast("string"), 256)).sort("digest") \
        .write.mode("overwrite").parquet(folder)
    spark.read.parquet(folder).write.mode("overwrite").parquet(output)
    return spark.read.parquet(output).count()


def stream(spark, output):
    """A stream of files in batches, whose checkpoint is in S3."""
    source = output + "-source"
    spark.range(0, ROWS, 1, 4).write.mode("overwrite").parquet(source)
    read = spark.readStream.schema("id LONG").option("maxFilesPerTrigger", 1).parquet(source)
    query = read.writeStream.format("parquet").option("path", output) \
        .option("checkpointLocation", output + "-checkpoint").trigger(availableNow=True).start()
    query.awaitTermination()
    if len(query.recentProgress) < 4:
        sys.exit(f"{len(query.recentProgress)} batches, expected 4")
    return spark.read.parquet(output).count()


def sql(spark, output):
    spark.range(0, ROWS, 1, 4).createOrReplaceTempView("orders")
    spark.sql("SELECT id % 10 AS shop, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 2").write.mode("overwrite").parquet(output)
    spark.read.parquet(output).createOrReplaceTempView("shops")
    return spark.sql("SELECT sum(orders) FROM shops").first()[0]


KINDS = {f.__name__: f for f in (batch, cache, sort, stream, sql)}

spark = SparkSession.builder.appName("kinds " + sys.argv[1]).getOrCreate()
hadoop = spark.sparkContext._jsc.hadoopConfiguration()
hadoop.addResource("hdfs-site.xml")
for expected in sys.argv[3:]:
    name, value = expected.split("=", 1)
    found = spark.conf.get(name, None) if name.startswith("spark.") else hadoop.get(name)
    if found != value:
        sys.exit(f"{name}: {found}, expected {value}")
rows = KINDS[sys.argv[1]](spark, sys.argv[2])
spark.stop()
if rows != ROWS:
    sys.exit(f"{rows} rows, expected {ROWS}")
