"""A Spark job that keeps its own clock.

Usage: job.py CLOCK MODE [ARGUMENT…]

It writes to the file CLOCK what it does and when, in lines of JSON, by its own
clock (time.time) around its own calls. It reads no event, listener or REST API of
Spark. Its tasks' times come from suite.TaskClock, in the executors.
"""
import hashlib
import json
import os
import sys
import threading
import time

from pyspark import SparkConf, SparkContext, TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

clock = open(sys.argv[1], "a", buffering=1)


def note(what, **more):
    """Writes what happens now."""
    clock.write(json.dumps({"what": what, "at": int(time.time() * 1000), **more}) + "\n")


class Context(SparkContext):
    """A context that notes when its constructor in the JVM is called."""

    def _initialize_context(self, jconf):
        note("context")
        return super()._initialize_context(jconf)


class action:
    """An action of the job: kind is compute, write (its last stage writes) or save (of an RDD).

    waits says that no executor is there when it begins, by the test's design.
    """

    def __init__(self, sc, kind, waits=False):
        self.sc, self.kind, self.waits = sc, kind, waits

    def __enter__(self):
        self.name = f"{self.kind}-{threading.get_ident()}-{time.time()}"
        self.sc.setLocalProperty("suite.action", self.name)
        note("begin", action=self.name, kind=self.kind, waits=self.waits)

    def __exit__(self, *_):
        note("end", action=self.name)
        self.sc.setLocalProperty("suite.action", None)


def busy(seconds):
    """Computes for that long, and leaves most of the machine to the other tests."""
    until = time.time() + seconds
    digest = b""
    while time.time() < until:
        for _ in range(2000):
            digest = hashlib.sha256(digest).digest()
        time.sleep(0.02)
    return digest


def compute(sc, seconds, tasks=2, waits=False):
    """Runs tasks that each compute for that long."""
    computed = sc.parallelize(range(tasks), tasks).map(lambda _: len(busy(seconds)))
    _ = computed._jrdd  # serialized before the action begins
    with action(sc, "compute", waits):
        computed.collect()


def rows(spark, megabytes, partitions):
    """Returns incompressible rows of that size."""
    text = F.expr("array_join(transform(sequence(1, 16), i -> sha2(concat(id, i), 256)), '')")
    return spark.range(0, int(megabytes * 1024), 1, partitions).select("id", text.alias("text"))


def start():
    """Returns a session whose context was timed."""
    sc = Context(conf=SparkConf())
    sc.runJob(sc.parallelize([0], 1), list, [])  # no task: the driver is warm when an action begins
    return SparkSession.builder.getOrCreate()


def stop(spark):
    note("stop")
    spark.stop()


def mode_compute(spark, seconds="4", waits="yes"):
    """Tasks that compute, after a wait for the first executor."""
    compute(spark.sparkContext, float(seconds), waits=waits == "yes")


def mode_write(spark, output, megabytes, partitions, seconds="3", pause="0"):
    """Compute, then a shuffle whose result is written, then a pause."""
    compute(spark.sparkContext, float(seconds), waits=True)
    frame = rows(spark, float(megabytes), int(partitions)).repartition(int(partitions))
    with action(spark.sparkContext, "write"):
        frame.write.mode("overwrite").parquet(output)
    time.sleep(float(pause))


def mode_hold(spark, gate):
    """Holds what it has in YARN until the gate opens, and does nothing."""
    note("holds")
    while not os.path.exists(gate):
        time.sleep(0.02)


def mode_noop(spark, seconds):
    """A DataSource V2 write: the sink reports no output metrics."""
    compute(spark.sparkContext, 1, waits=True)
    slow = F.udf(lambda i: len(busy(float(seconds))) + i, "bigint")
    with action(spark.sparkContext, "write"):
        spark.range(0, 2, 1, 2).select(slow("id").alias("id")).write.format("noop").mode("overwrite").save()


def mode_rdd(spark, output, seconds):
    """saveAsTextFile: a write without a SQL execution."""
    compute(spark.sparkContext, 1, waits=True)
    with action(spark.sparkContext, "save"):
        spark.sparkContext.parallelize(range(2), 2).map(lambda i: str(busy(float(seconds))) + str(i)).saveAsTextFile(output)


def mode_driver(spark, seconds):
    """Collects, and then works in the driver."""
    compute(spark.sparkContext, 1, waits=True)
    with action(spark.sparkContext, "compute"):
        rows = spark.range(0, 100000, 1, 2).collect()
    busy(float(seconds))
    assert len(rows) == 100000


def mode_threads(spark, output):
    """Two threads whose compute and write overlap."""
    compute(spark.sparkContext, 1, waits=True)

    def write():
        with action(spark.sparkContext, "write"):
            rows(spark, 8, 2).write.mode("overwrite").parquet(output)

    threads = [threading.Thread(target=write), threading.Thread(target=compute, args=(spark.sparkContext, 6, 1))]
    for t in threads:
        t.start()
        time.sleep(1.5)
    for t in threads:
        t.join()


def mode_starved(spark, pause, gate):
    """Computes, pauses until its executors are gone, and computes again, for which it
    has to wait: by then another application has what this one gave back."""
    compute(spark.sparkContext, 2, waits=True)
    busy(float(pause))
    note("gate")
    while not os.path.exists(gate):
        time.sleep(0.02)
    compute(spark.sparkContext, 3, waits=True)


def mode_context(spark, thread, session):
    """Three actions: the application's own, a thread's and a session's with a parent of their own."""
    sc = spark.sparkContext
    compute(sc, 0.5, waits=True)
    if thread != "-":
        sc.setLocalProperty("traceparent", thread)
        compute(sc, 0.5)
        sc.setLocalProperty("traceparent", None)
    if session != "-":
        spark.conf.set("spark.observatory.traceparent", session)
        with action(sc, "compute"):
            spark.range(0, 10, 1, 1).selectExpr("sum(id)").collect()
        spark.conf.unset("spark.observatory.traceparent")


def mode_killed(spark, seconds):
    """Tasks that somebody kills; those that Spark starts again end at once."""
    counted = spark.sparkContext.parallelize(range(2), 2).map(lambda _: len(first(float(seconds))))
    _ = counted._jrdd  # serialized before the action begins
    with action(spark.sparkContext, "compute", True):
        lengths = counted.collect()
    note("counted", sum=sum(lengths))


def first(seconds):
    """Computes for that long in the first attempt of a task."""
    return busy(seconds if TaskContext.get().attemptNumber() == 0 else 1)


def mode_forgets(spark):
    """Ends without stop, as many jobs do."""
    compute(spark.sparkContext, 1, waits=True)
    note("stop")
    sys.exit(0)


def mode_twice(spark):
    """Runs a context after another in the same driver."""
    compute(spark.sparkContext, 1, waits=True)
    spark.stop()
    spark = start()
    compute(spark.sparkContext, 1, waits=True)
    stop(spark)
    sys.exit(0)


def main():
    note("main")
    spark = start()
    globals()["mode_" + sys.argv[2]](spark, *sys.argv[3:])
    stop(spark)


if __name__ == "__main__":
    main()
