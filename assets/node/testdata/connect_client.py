"""A user's program with the stock client of Spark Connect: connect_client.py PORT FILE METADATA TAG CONFIGURATION. Runs a session for
each way to name a trace context, and one that names none; prints "<how> <session>" of each."""
import sys

from pyspark.sql import SparkSession

port, file, *parents = sys.argv[1:]
for how, parent in zip(("metadata", "tag", "configuration", "none"), [*parents, ""]):
    remote = f"sc://127.0.0.1:{port}/;user_id=user_of_{how}"
    spark = SparkSession.builder.remote(remote + (f";traceparent={parent}" if how == "metadata" else "")).create()
    if how == "tag":
        spark.addTag("traceparent=" + parent)
    if how == "configuration":
        spark.conf.set("spark.observatory.traceparent", parent)
    assert spark.range(100).repartition(3).count() == 100
    assert spark.sql("SELECT 1 AS one").collect()[0].one == 1
    assert spark.read.json(file).schema.names == ["a"]
    assert len(spark.range(10).toPandas()) == 10
    print(how, spark.session_id)
