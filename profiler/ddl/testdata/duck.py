"""Executes SQL with DuckDB: duck.py DECLARATIONS QUERIES. Prints the rows of each query, between lines of ";", as JSON, a line per query."""
import datetime, decimal, json, sys

import duckdb

declarations, queries = sys.argv[1:]
db = duckdb.connect()
db.execute(open(declarations).read())


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, datetime.date) else float(value)


for query in open(queries).read().split("\n;\n"):
    found = db.execute(query)
    names = [column[0] for column in found.description]
    rows = [{n: v for n, v in zip(names, row) if v is not None} for row in found.fetchall()]
    print(json.dumps(rows, default=plain))
