"""Sends profiles to a URL, under a name that is in it, as anybody's job can: so many, of which at least
so many must be refused."""
import concurrent.futures
import sys
import urllib.error
import urllib.request

from pyspark.sql import SparkSession


def send(number):
    body = b"main;work%d 40\n" % number
    request = urllib.request.Request(sys.argv[1], data=body, headers={"Content-Type": "text/plain"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as e:
        return e.code


SparkSession.builder.appName("flood").getOrCreate()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    answers = list(pool.map(send, range(int(sys.argv[2]))))
counts = {status: answers.count(status) for status in set(answers)}
print(counts)
if set(counts) != {200, 403} or counts[403] < int(sys.argv[3]):
    raise ValueError("other answers than expected: %s" % counts)
