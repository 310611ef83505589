"""Each task sends one numbered span, counter sample and log line per second, until the file /tmp/end-RUN exists.

Usage: markers.py RUN TASKS OTLP, the last being each node's URL for OTLP over HTTP.

A task writes a line only once its node's collector has accepted the span and the
sample of the same number, so whatever is missing later was lost on the way.
"""
import hashlib
import json
import os
import sys
import time
import urllib.request

from pyspark.sql import SparkSession

run, tasks, otlp = sys.argv[1], int(sys.argv[2]), sys.argv[3]
stop, at_once = f"/tmp/end-{run}", 10
trace = hashlib.md5(run.encode()).hexdigest()


def resource(of):
    return {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "markers"}}]}, **of}


def span(task, n):
    now = time.time_ns()
    one = {"traceId": trace, "spanId": f"{task + 1:08x}{n:08x}", "name": f"marker run={run} task={task} n={n};", "kind": 1,
           "startTimeUnixNano": str(now - 1_000_000), "endTimeUnixNano": str(now)}
    return {"resourceSpans": [resource({"scopeSpans": [{"spans": [one]}]})]}


def sample(task, n):
    point = {"asInt": str(n), "timeUnixNano": str(time.time_ns()),
             "attributes": [{"key": "run", "value": {"stringValue": run}}, {"key": "task", "value": {"stringValue": str(task)}}]}
    counter = {"name": "markers", "sum": {"isMonotonic": True, "aggregationTemporality": 2, "dataPoints": [point]}}
    return {"resourceMetrics": [resource({"scopeMetrics": [{"metrics": [counter]}]})]}


def send(signal, what):
    """Retries until the collector accepts it, as an SDK does: it may be restarting."""
    request = urllib.request.Request(f"{otlp}/v1/{signal}", json.dumps(what).encode(), {"Content-Type": "application/json"})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return
        except OSError:
            time.sleep(0.1)


def lines_from(first):
    def work(task):
        for n in range(first, first + at_once):
            send("traces", span(task, n))
            send("metrics", sample(task, n))
            print(f"marker run={run} task={task} n={n};", file=sys.stderr, flush=True)
            time.sleep(1)

    return work


spark = SparkSession.builder.appName("markers").getOrCreate()
first = 0
while not os.path.exists(stop):
    spark.sparkContext.parallelize(range(tasks), tasks).foreach(lines_from(first))
    first += at_once
spark.stop()
