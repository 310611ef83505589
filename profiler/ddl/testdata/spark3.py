"""Executes statements with Spark 3: spark3.py STATEMENTS SCHEMA FILE. Writes the number of rows of each table of the schema to the file, as JSON."""
import json, sys

from pyspark.sql import SparkSession

statements, schema, file = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
for statement in open(statements).read().split("\n;\n"):
    spark.sql(statement)
spark.sql("USE " + schema)
rows = {t.name: spark.table(t.name).count() for t in spark.catalog.listTables()}
with open(file, "w") as out:
    json.dump(rows, out)
spark.stop()
