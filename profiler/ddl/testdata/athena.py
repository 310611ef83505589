"""Parses statements of standard input, between lines of ";", by Athena's dialect. Prints what each makes, as JSON."""
import json, sys

import sqlglot
from sqlglot import expressions

made = []
for text in sys.stdin.read().split("\n;\n"):
    (statement,) = sqlglot.parse(text, read="athena")
    columns = {}
    if isinstance(statement, expressions.Create) and isinstance(statement.this, expressions.Schema):
        for column in statement.this.expressions:
            columns[column.name] = [column.kind.sql("hive"), column.constraints[0].kind.this.name]
    properties = statement.args.get("properties")
    settings = {p.name: p.args["value"].name for p in (properties.expressions if properties else []) if type(p) is expressions.Property}
    made.append({"kind": statement.args.get("kind"), "columns": columns, "settings": settings})
print(json.dumps(made))
