"""A job of which a stage has one task.

Usage: spark-submit --conf spark.sql.shuffle.partitions=1 cores.py OUTPUT [ROUNDS [ROWS]]

OUTPUT is a folder and is overwritten. ROWS is the number of generated documents. The
setting is that of a small job, which somebody copied: one core scores what a shuffle
has brought together, and the others have nothing to do. More partitions cure it.

It does so ROUNDS times, so that what it costs is more than runs of it differ by.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def rank(spark: SparkSession, output: str, rows: int) -> None:
    latest = spark.range(0, rows, 1, 4).groupBy((F.col("id") % (rows // 2)).alias("document")).agg(F.max("id").alias("version"))
    score = F.expr("aggregate(sequence(1, 200), 0L, (sum, i) -> sum + ascii(sha2(concat(version, '-', i), 256)))")
    best = latest.select("document", score.alias("score")).orderBy(F.desc("score")).limit(10).collect()
    scores = F.array(*(F.struct(F.lit(r.document).alias("document"), F.lit(r.score).alias("score")) for r in best))
    spark.range(1).select(F.inline(scores)).write.mode("overwrite").parquet(output)


def main(output: str, rounds: int = 1, rows: int = 500_000) -> None:
    spark = SparkSession.builder.getOrCreate()
    for _ in range(rounds):
        rank(spark, output, rows)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
