"""A job of which a stage has one task.

Usage: spark-submit --conf spark.sql.shuffle.partitions=1 cores.py OUTPUT [ROWS]

OUTPUT is a folder and is overwritten. ROWS is the number of generated documents. The
setting is that of a small job, which somebody copied: one core scores what a shuffle
has brought together, and the others have nothing to do. More partitions cure it.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(output: str, rows: int) -> None:
    spark = SparkSession.builder.getOrCreate()
    latest = spark.range(0, rows, 1, 4).groupBy((F.col("id") % (rows // 2)).alias("document")).agg(F.max("id").alias("version"))
    score = F.expr("aggregate(sequence(1, 200), 0L, (sum, i) -> sum + ascii(sha2(concat(version, '-', i), 256)))")
    best = latest.select("document", score.alias("score")).orderBy(F.desc("score")).limit(10).collect()
    rows = F.array(*(F.struct(F.lit(r.document).alias("document"), F.lit(r.score).alias("score")) for r in best))
    spark.range(1).select(F.inline(rows)).write.mode("overwrite").parquet(output)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300_000)
