"""A DAG as a team writes it: stock operators, with the steps' Spark properties from the plugin."""

import os
from datetime import datetime, timedelta

try:
    from airflow.sdk import DAG
except ImportError:
    from airflow import DAG
from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator
from emr_observatory_airflow import EmrSteps

JOB = os.environ["JOB"]


def step(name, *args):
    arguments = ["spark-submit", "--conf", "spark.yarn.am.memory=256m", JOB, *args]
    return {"Name": name, "ActionOnFailure": "CONTINUE", "HadoopJarStep": {"Jar": "command-runner.jar", "Args": arguments}}


settings = {
    "job_flow_id": os.environ["CLUSTER"],
    "wait_for_completion": True,
    "waiter_delay": 2,
    "waiter_max_attempts": 600,
    "retries": 1,
    "retry_delay": timedelta(seconds=1),
}
with DAG("nightly", start_date=datetime(2026, 1, 1), schedule="@once", catchup=False, is_paused_upon_creation=False):
    two = EmrAddStepsOperator(task_id="two", steps=EmrSteps([step("first"), step("second")]), **settings)
    retried = EmrAddStepsOperator(task_id="retried", steps=EmrSteps([step("fails once", "{{ ti.try_number }}")]), **settings)
    each = EmrAddStepsOperator.partial(task_id="each", **settings).expand(
        steps=[EmrSteps([step("of one instance")]), EmrSteps([step("of the other")])]
    )
    two >> retried >> each
