"""Answers questions over a lake with DuckDB: duck.py LAKE QUESTIONS. Prints one JSON list of rows per question."""
import glob, json, os, sys

import duckdb

lake, questions = sys.argv[1:]
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
db.execute("CREATE MACRO element_at(list, place) AS list[place]")
for path in sorted(glob.glob(lake + "/[a-z]*")):
    # union_by_name: columns that older files lack are null.
    db.execute(f"CREATE VIEW {os.path.basename(path)} AS SELECT * FROM "
               f"read_parquet('{path}/*/*.parquet', hive_partitioning = true, union_by_name = true)")
for question in open(questions).read().split("\n\n"):
    rows = [list(row) for row in db.execute(question).fetchall()]
    print(json.dumps(rows, default=lambda value: value.isoformat() if hasattr(value, "isoformat") else float(value)))
