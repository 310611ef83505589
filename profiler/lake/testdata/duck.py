"""Answers questions over a lake with DuckDB: duck.py VIEWS QUESTIONS. Prints one JSON list of rows per question."""
import json, sys

import duckdb

views, questions = sys.argv[1:]
db = duckdb.connect()
db.execute(open(views).read())
for question in open(questions).read().split("\n\n"):
    rows = [list(row) for row in db.execute(question).fetchall()]
    print(json.dumps(rows, default=lambda value: value.isoformat() if hasattr(value, "isoformat") else float(value)))
