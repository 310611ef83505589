"""Answers questions over a lake with Spark, like duck.py: spark.py LAKE QUESTIONS PROGRAM. The last answer is what the program prints."""
import contextlib, datetime, glob, io, json, os, sys

from pyspark.sql import SparkSession

lake, questions, program = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
for path in sorted(glob.glob(lake + "/[a-z]*")):
    # mergeSchema: columns that older files lack are null.
    spark.read.option("mergeSchema", "true").parquet(path).createOrReplaceTempView(os.path.basename(path))


def plain(value):
    # Spark returns naive datetimes in the machine's time zone.
    return value.astimezone(datetime.timezone.utc).isoformat() if isinstance(value, datetime.datetime) else float(value)


with open(os.environ["ANSWERS"], "w") as answers:
    for question in open(questions).read().split("\n\n"):
        rows = [list(row) for row in spark.sql(question).collect()]
        print(json.dumps(rows, default=plain), file=answers)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(open(program).read())
    print(json.dumps([[line] for line in shown.getvalue().splitlines()]), file=answers)
spark.stop()
