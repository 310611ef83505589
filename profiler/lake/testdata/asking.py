"""Asks the same questions again and again until stdin ends: asking.py VIEWS QUESTION…. Prints a line with the answers of each round."""
import json, select, sys

import duckdb

views, *questions = sys.argv[1:]
db = duckdb.connect()
db.execute(open(views).read())
while True:
    answers = [[str(value) for row in db.execute(question).fetchall() for value in row] for question in questions]
    print(json.dumps(answers), flush=True)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
