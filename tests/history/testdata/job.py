"""Applications whose event logs the tests read. Usage: job.py MODE FOLDER"""
import os
import signal
import sys
import threading
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("history " + sys.argv[1]).getOrCreate()
sc = spark.sparkContext
folder = sys.argv[2]


def fails(action):
    """Runs an action that must fail."""
    try:
        action()
    except Exception as e:
        return str(e)
    raise SystemExit("it did not fail")


def broken(rows):
    """Fails in the partition that has a 7."""
    for row in rows:
        if row == 7:
            raise ValueError("no sevens")
        yield row


def mode_mixed():
    """SQL that adaptive execution plans anew, caches, skips, failures, Python in SQL, a skewed stage that spills."""
    sc.setJobGroup("aggregates", "first group")
    spark.range(0, 200000, 1, 4).selectExpr("id % 100 as k", "id as v").groupBy("k").agg(F.sum("v").alias("s")).orderBy("s").collect()
    sc.setJobDescription("cached")
    cached = spark.range(0, 50000, 1, 3).selectExpr("id", "id % 7 as m").cache()
    cached.count()
    cached.filter("m = 3").count()
    cached.unpersist()
    sc.setLocalProperty("spark.job.description", None)
    sc.setLocalProperty("spark.jobGroup.id", None)
    left = spark.range(0, 30000).selectExpr("id % 500 as k", "id as x")
    right = spark.range(0, 20000).selectExpr("id % 500 as k", "id as y")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    left.join(right, "k").groupBy("k").count().write.mode("overwrite").parquet(folder + "/joined")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10485760")
    spark.read.parquet(folder + "/joined").join(left, "k").groupBy().count().collect()
    pairs = sc.parallelize(range(100), 4).map(lambda x: (x % 5, x)).groupByKey()
    pairs.count()
    pairs.count()
    fails(sc.parallelize(range(10), 2).mapPartitions(broken).collect)
    fails(spark.range(10).select(F.udf(lambda x: 1 // (x - 3), "int")("id")).collect)
    spark.range(1000).select(F.udf(lambda x: x + 1, "long")("id").alias("y")).groupBy().sum("y").collect()
    spark.range(0, 400000, 1, 4).selectExpr("CASE WHEN id % 10 < 9 THEN 0 ELSE id END AS k", "repeat('x', 100) AS text", "id") \
        .repartition(4, "k").sortWithinPartitions("text", "id").write.format("noop").mode("overwrite").save()
    fails(lambda: spark.sql("SELECT raise_error('no such day') FROM range(3)").collect())


def mode_lost():
    """An executor dies between a shuffle's map and reduce stages: fetch failures, a second attempt of the stages."""
    once = folder + "/died"

    def die(rows):
        if TaskContext.get().partitionId() == 0 and not os.path.exists(once):
            open(once, "w").close()
            executor = os.getppid()  # of the worker is PySpark's daemon, whose parent is the JVM
            with open("/proc/%d/stat" % executor) as stat:
                executor = int(stat.read().rsplit(")", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
            time.sleep(60)
        return rows

    sc.parallelize(range(1000), 4).map(lambda x: (x % 8, x)).groupByKey(4).mapPartitions(die).count()


def mode_killed():
    """A job group that is cancelled, and a driver that dies while a job runs."""
    def cancelled():
        sc.setJobGroup("slow", "to be cancelled", interruptOnCancel=True)
        fails(sc.parallelize(range(4), 4).map(lambda x: time.sleep(60)).collect)

    # Tasks that have surely ended: cancelled ones may have no end in the log yet.
    sc.parallelize(range(2), 2).map(lambda x: time.sleep(0.2)).collect()
    thread = threading.Thread(target=cancelled)
    thread.start()
    while not sc.statusTracker().getActiveJobsIds():
        time.sleep(0.05)
    time.sleep(1)  # its tasks run
    sc.cancelJobGroup("slow")
    thread.join()
    sc.setLocalProperty("spark.jobGroup.id", None)
    threading.Thread(target=lambda: sc.parallelize(range(2), 2).map(lambda x: time.sleep(60)).collect(), daemon=True).start()
    while not sc.statusTracker().getActiveStageIds():
        time.sleep(0.05)
    time.sleep(1)
    os.kill(int(sc._jvm.java.lang.ProcessHandle.current().pid()), signal.SIGKILL)
    os._exit(0)


def mode_streaming():
    """A streaming query that ends by itself after four micro-batches."""
    for batch in range(4):
        with open("%s/batch-%d.json" % (folder, batch), "w") as rows:
            rows.writelines('{"value": %d}\n' % value for value in range(50))
    spark.readStream.schema("value long").option("maxFilesPerTrigger", 1).option("pathGlobFilter", "batch-*").json(folder) \
        .groupBy((F.col("value") % 3).alias("k")).count() \
        .writeStream.format("noop").outputMode("complete").trigger(availableNow=True).start().awaitTermination()


def mode_many():
    """More jobs and stages than a server with low limits keeps."""
    for i in range(60):
        sc.parallelize(range(4), 2).map(lambda x: (x, i)).groupByKey(2).count()
    for i in range(120):
        spark.range(0, 10, 1, 2).selectExpr("id + %d" % i).collect()
    sc.parallelize(range(300), 150).count()


def mode_again():
    """Two applications of one driver: ids of SQL executions of the second do not begin at 0."""
    global spark
    spark.range(0, 10, 1, 2).collect()
    spark.range(0, 10, 1, 2).collect()
    spark.stop()
    spark = SparkSession.builder.appName("history again, later").getOrCreate()
    spark.range(0, 10, 1, 2).collect()


def mode_held():
    """An application that runs until the file "go" is there."""
    sc.parallelize(range(100), 4).map(lambda x: (x % 5, x)).groupByKey(2).count()
    spark.range(0, 1000, 1, 2).selectExpr("id % 3 as k").groupBy("k").count().collect()
    sc._jsc.sc().listenerBus().waitUntilEmpty()  # the UI has heard of all
    with open(folder + "/ui.part", "w") as ui:
        ui.write(sc.uiWebUrl)
    os.rename(folder + "/ui.part", folder + "/ui")
    while not os.path.exists(folder + "/go"):
        time.sleep(0.1)


{name: f for name, f in globals().items() if name.startswith("mode_")}["mode_" + sys.argv[1]]()
spark.stop()
