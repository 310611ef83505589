"""Renders what stock operators are given, for two tries of each task, and prints it as JSON.

The argument says what Airflow traces: all, unsampled or nothing. The plugin is found as Airflow
finds it, and task instances are Airflow's own objects, without a database."""

import contextlib
import copy
import hashlib
import json
import sys
from datetime import datetime, timezone

import airflow
import emr_observatory_airflow as observatory
from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator, EmrCreateJobFlowOperator
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.serialization.helpers import serialize_template_field

RUN, START = "scheduled__2026-11-23T02:00:00+00:00", datetime(2026, 11, 23, 2, tzinfo=timezone.utc)
TRACE = 0x0AF7651916CD43DD8448EB211C80319C

AIRFLOW2 = airflow.__version__.startswith("2.")
if AIRFLOW2:
    from airflow import DAG, macros, plugins_manager
    from airflow.models import DagRun, TaskInstance
    from airflow.traces.utils import gen_span_id, gen_trace_id
else:
    from airflow.sdk import DAG, plugins_manager
    from airflow.sdk.execution_time import macros
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
    from opentelemetry import trace


def step(*args):
    return {"Name": "{{ ti.task_id }}", "HadoopJarStep": {"Jar": "command-runner.jar", "Args": list(args)}}


def operators():
    own = observatory.TRACEPARENT + "=00-" + "1" * 32 + "-" + "2" * 16 + "-01"  # of whoever wrote the DAG
    with DAG("nightly", start_date=START, schedule=None, render_template_as_native_obj=True):
        create = EmrCreateJobFlowOperator(
            task_id="create", job_flow_overrides={"Steps": observatory.EmrSteps([step("spark-submit", "s3://b/one.py")])}
        )
        add = EmrAddStepsOperator(
            task_id="add",
            job_flow_id="j-1",
            steps=observatory.EmrSteps(
                [
                    step("spark-submit", "--conf", "spark.x={{ ti.run_id }}", "s3://b/two.py"),
                    step("/usr/bin/spark-submit", "--conf", own, "--conf=" + observatory.DAG_ID + "=mine", "s3://b/own.py"),
                    step("s3-dist-cp", "--src", "s3://b/in"),
                    {"Name": "a jar of its own", "HadoopJarStep": {"Jar": "s3://b/x.jar"}},
                ],
                first=5,
            ),
        )
        empty = SparkSubmitOperator(task_id="empty", application="a.py", conf=observatory.SparkConf())
        connect = PySparkOperator(task_id="connect", python_callable=lambda spark: spark, config_kwargs=observatory.SparkConf())
        joined = EmrAddStepsOperator(task_id="joined", job_flow_id="j-1", steps=[step("true")] + observatory.EmrSteps([step("spark-submit", "s3://b/x.py")]))
        submit = SparkSubmitOperator(
            task_id="submit", application="a.py", conf=observatory.SparkConf({"spark.x": "{{ ti.task_id }}", observatory.TASK_ID: "mine"})
        )
        templates = SparkSubmitOperator(
            task_id="templates",
            application="a.py",
            conf="{{ macros.observatory.spark_conf(ti, {'spark.x': 'y'}) }}",
            env_vars={"TRACEPARENT": "{{ macros.observatory.traceparent(ti) }}"},
            application_args="{{ macros.observatory.step_conf(ti, 0) }}",
        )
        for later in (
            EmrAddStepsOperator(task_id="of_steps", job_flow_id="j-1", steps=observatory.EmrSteps([step("spark-submit", create.output)])),
            SparkSubmitOperator(task_id="of_conf", application="a.py", conf=observatory.SparkConf({"spark.x": create.output})),
        ):
            assert later.upstream_task_ids == {"create"}, "the values of a field are still known to refer to results of tasks"
        for wrong in ("{{ steps }}", create.output):
            try:
                observatory.EmrSteps(wrong)
            except TypeError as refusal:
                assert "make the list in a Python task" in str(refusal)
            else:
                raise AssertionError(f"{wrong} is no list")
    return [create, add, submit, templates, empty, connect, joined]


def instance(task, number):
    """Return a task instance, and the trace context of its span."""
    if not AIRFLOW2:
        fields = {"id": "0", "task_id": task.task_id, "dag_id": "nightly", "run_id": RUN, "try_number": number, "map_index": -1}
        span = hashlib.sha256(f"{task.task_id} {number}".encode()).hexdigest()[:16]
        return RuntimeTaskInstance.model_construct(task=task, **fields), f"00-{TRACE:032x}-{span}-01"
    ti = TaskInstance(task, run_id=None, state="running")
    ti.run_id, ti.try_number, ti.dag_run = RUN, number, DagRun(dag_id="nightly", run_id=RUN, start_date=START)
    return ti, f"00-{gen_trace_id(ti.dag_run)}-{gen_span_id(ti)}-01"


def current(span, traced):
    """Make a span the current one, as Airflow 3 does around a task. Airflow 2 computes its id."""
    if AIRFLOW2 or traced == "nothing":
        return contextlib.nullcontext()
    flags = trace.TraceFlags(int(traced == "all"))
    return trace.use_span(trace.NonRecordingSpan(trace.SpanContext(TRACE, int(span.split("-")[2], 16), False, flags)))


def rendered(task, number, traced):
    ti, span = instance(task, number)
    task = copy.copy(task)
    with current(span, traced):
        task.render_template_fields({"ti": ti, "task": task, "macros": macros}, task.dag.get_template_env())
    fields = ("conf", "config_kwargs", "steps", "job_flow_overrides", "env_vars", "application_args")
    return {"span": span, **{name: getattr(task, name) for name in fields if getattr(task, name, None)}}


def main():
    plugins_manager.integrate_macros_plugins()
    tasks = operators()
    found = {
        "names": {name: getattr(observatory, name) for name in ("TRACEPARENT", "STEP_PARENT", "DAG_ID", "TASK_ID", "RUN_ID", "TRY_NUMBER")},
        "shown": serialize_template_field(tasks[2].conf, "conf"),
        "tries": [{task.task_id: rendered(task, number, sys.argv[1]) for task in tasks} for number in (1, 2)],
    }
    json.dump(found, sys.stdout)


main()
