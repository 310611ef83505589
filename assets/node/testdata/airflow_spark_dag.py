"""A DAG as a team writes it: stock operators of Spark, with properties from the plugin."""
import json
import os
from datetime import datetime

try:
    from airflow.sdk import DAG
except ImportError:
    from airflow import DAG
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from emr_observatory_airflow import SparkConf


def count(spark, **_):
    assert spark.range(100).repartition(3).count() == 100


with DAG("nightly", start_date=datetime(2026, 1, 1), schedule="@once", catchup=False, is_paused_upon_creation=False):
    submitted = SparkSubmitOperator(task_id="submitted", application=os.environ["JOB"], conf=SparkConf(json.loads(os.environ["CONF"])))
    connected = PySparkOperator(
        task_id="connected", conn_id="spark_connect_default", python_callable=count, config_kwargs=SparkConf()
    )
    submitted >> connected
