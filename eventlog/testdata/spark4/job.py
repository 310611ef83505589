"""Writes a rolled event log of Spark 4 with what the reader's tests look for."""
import os
import sys
import threading
import time

from pyspark.sql import SparkSession, functions as f

out = sys.argv[1]
spark = SparkSession.builder.appName("everything").getOrCreate()
sc = spark.sparkContext

# A skewed join, a stage of 200 tasks, and a write.
left = spark.range(200_000).withColumn("k", f.when(f.col("id") % 10 < 7, 0).otherwise(f.col("id") % 100))
right = spark.range(100).withColumnRenamed("id", "k").withColumn("name", f.concat(f.lit("ä"), "k"))
spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
left.join(right, "k").groupBy("name").count().write.mode("overwrite").parquet(out + "/counts")
spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "true")

# A cached table, read twice, through a Python function.
double = f.udf(lambda n: n * 2, "long")
counts = spark.read.parquet(out + "/counts").withColumn("double", double("count")).cache()
counts.orderBy("double").collect()
counts.groupBy("double").count().collect()

# Skipped stages: the second action needs no map tasks.
pairs = sc.parallelize(range(1000), 40).map(lambda n: (n % 7, n)).reduceByKey(lambda a, b: a + b, 20)
pairs.count()
pairs.collect()

# Streaming, until all is read.
stream = spark.readStream.schema("name string, count long").parquet(out + "/counts").groupBy("name").sum("count")
query = stream.writeStream.format("noop").outputMode("complete").trigger(availableNow=True) \
    .option("checkpointLocation", out + "/checkpoint").start()
query.awaitTermination()

# Killed tasks.
def slow(n):
    time.sleep(30)
    return n

def run():
    sc.setJobGroup("slow", "tasks that are killed", True)
    try:
        sc.parallelize(range(4), 4).map(slow).count()
    except Exception as e:
        print("killed:", str(e).splitlines()[0])

thread = threading.Thread(target=run)
thread.start()
time.sleep(5)
sc.cancelAllJobs()
thread.join()

# An executor that dies, and a stage that is read again.
flag = out + "/died"
def die(n):  # Python's daemon is the parent of this process, and a child of the executor
    if n == 3 and not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(int(os.popen("ps -o ppid= -p %d" % os.getppid()).read()), 9)
    return n
try:
    print("after a death:", sc.parallelize(range(8), 8).map(die).count())
except Exception as e:
    print("death:", str(e).splitlines()[0])

# A failure.
try:
    sc.parallelize(range(10), 4).map(lambda n: 1 // (n - 5)).count()
except Exception as e:
    print("failed:", str(e).splitlines()[0])
try:
    spark.sql("SELECT raise_error('a SQL failure') FROM range(3)").collect()
except Exception as e:
    print("failed:", str(e).splitlines()[0])

# Many small tasks.
for i in range(int(sys.argv[2])):
    sc.parallelize(range(400), 400).count()
spark.stop()
