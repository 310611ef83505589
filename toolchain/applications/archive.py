# A job that makes its JVM load what Spark's JVMs load: SQL in a driver and its tasks, and the
# classes with which drivers and executors reach YARN, HDFS and S3.
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.range(0, 1000, 1, 4).selectExpr("id", "id % 7 AS k")
rows.groupBy("k").count().write.parquet(sys.argv[1])
spark.read.parquet(sys.argv[1]).join(rows, "k").orderBy("id").collect()
spark.sparkContext.parallelize(range(8), 2).map(lambda n: (n % 2, n)).reduceByKey(max).collect()
for name in (
    "org.apache.spark.deploy.yarn.ApplicationMaster",
    "org.apache.spark.deploy.yarn.YarnClusterApplication",
    "org.apache.spark.deploy.yarn.Client",
    "org.apache.spark.deploy.worker.Worker",
    "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend",
    "org.apache.spark.scheduler.cluster.YarnClientSchedulerBackend",
    "org.apache.spark.scheduler.cluster.YarnClusterSchedulerBackend",
    "org.apache.hadoop.yarn.client.api.impl.YarnClientImpl",
    "org.apache.hadoop.yarn.client.api.async.impl.AMRMClientAsyncImpl",
    "org.apache.hadoop.hdfs.DistributedFileSystem",
    "org.apache.hadoop.fs.s3a.S3AFileSystem",
):
    spark.sparkContext._jvm.java.lang.Class.forName(name)
spark.stop()
