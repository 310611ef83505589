"""Creates tables in moto's Glue: glue.py < INPUTS, a JSON list of CreateTable's inputs. Prints what Glue then has, as JSON."""
import json, os, sys

import boto3
import moto

os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="us-east-1")
inputs = json.load(sys.stdin)
with moto.mock_aws():
    glue = boto3.client("glue")
    for database in {table["DatabaseName"] for table in inputs}:
        glue.create_database(DatabaseInput={"Name": database})
    for table in inputs:
        glue.create_table(**table)
    pages = [page for database in glue.get_databases()["DatabaseList"]
             for page in glue.get_paginator("get_tables").paginate(DatabaseName=database["Name"])]
print(json.dumps([table for page in pages for table in page["TableList"]], default=str))
