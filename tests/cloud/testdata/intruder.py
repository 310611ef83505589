"""Asks for what is not its own, as anybody's job can. Its first argument is a JSON object: the answer
that is expected, by METHOD and URL, or by the s3:// URL of Parquet files. Fails if one differs.

The second one is a file of the node, which it links to as a log of its own, beside a FIFO. Then it
logs the third each second, with a number from 0 to 9."""
import concurrent.futures
import json
import os
import sys
import time
import urllib.error
import urllib.request

from pyspark.sql import SparkSession


def asked(method, url):
    body = b"{}" if method == "POST" else None
    request = urllib.request.Request(url, data=body, method=method, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as e:
        return str(e.code)
    except urllib.error.URLError as e:
        if isinstance(e.reason, ConnectionRefusedError):
            return "refused"
        raise


def read(url):
    try:
        return "%d rows" % spark.read.option("recursiveFileLookup", "true").parquet(url).count()
    except Exception as e:
        text = str(e)
        if "AccessDenied" in text or "Forbidden" in text:
            return "denied"
        raise


def mislead(target, line):
    """Runs in an executor, whose folder of logs has those of the application's other containers beside it."""
    own = os.environ["LOG_DIRS"].split(",")[0]
    for name, make in ("link", lambda path: os.symlink(target, path)), ("fifo", os.mkfifo):
        folder = own + "_" + name
        os.makedirs(folder, exist_ok=True)
        make(os.path.join(folder, "stderr"))
    for second in range(10):  # the log reader polls every second, and must not hang in any
        print("%s %d" % (line, second), file=sys.stderr, flush=True)
        time.sleep(1)


wanted = json.loads(sys.argv[1])
requests = [w for w in wanted if not w.startswith("s3://")]
with concurrent.futures.ThreadPoolExecutor(len(requests)) as pool:
    found = dict(zip(requests, pool.map(lambda r: asked(*r.split()), requests)))
spark = SparkSession.builder.appName("intruder").getOrCreate()
found.update((w, read(w)) for w in wanted if w.startswith("s3://"))
spark.sparkContext.parallelize([sys.argv[2:]], 1).foreach(lambda arguments: mislead(*arguments))
wrong = {w: found[w] for w in wanted if found[w] != wanted[w]}
if wrong:
    raise ValueError("other answers than expected: %s" % json.dumps(wrong))
