"""Puts Spark jobs into the trace of the Airflow task that starts them.

A job's configuration says which span of Airflow's is its parent, and which DAG, task, run and
try it belongs to. This module makes these properties. It sends nothing and changes no operator:
Airflow exports its own spans, and the job's driver exports the job's.

SparkConf and EmrSteps are values of an operator's templated fields. The macros spark_conf,
step_conf and traceparent are for templates and for a task's own Python code.
docs/guides/airflow.md has an example for each operator.

Tested with Airflow 2.11 and 3.3. Airflow 3.0 and 3.1 pass the task's trace context on in another
way (ti.context_carrier), which is read but untested.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import airflow
from airflow.configuration import conf as settings
from airflow.plugins_manager import AirflowPlugin

if TYPE_CHECKING:
    Resolved = object
else:
    try:  # Airflow 2 resolves values of this class, Airflow 3 those that have the method
        from airflow.utils.mixins import ResolveMixin as Resolved
    except ImportError:
        Resolved = object

TRACEPARENT = "spark.observatory.traceparent"
STEP_PARENT = "spark.observatory.step.parent"
DAG_ID = "spark.observatory.airflow.dag_id"
TASK_ID = "spark.observatory.airflow.task_id"
RUN_ID = "spark.observatory.airflow.run_id"
TRY_NUMBER = "spark.observatory.airflow.try_number"

# A trace context that is sampled (W3C Trace Context). One that is not would switch a job's
# spans off, though Airflow's decision is about Airflow's spans.
_SAMPLED = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f][13579bdf]")


def traceparent(ti: Any) -> str:
    """Return the trace context of a task instance's span.

    It is "" if Airflow's tracing is off ([traces] otel_on), if the trace is not sampled, or if
    the task has no span.
    """
    if not settings.getboolean("traces", "otel_on", fallback=False):
        return ""
    found = _of_airflow2(ti) if airflow.__version__.startswith("2.") else _of_airflow3(ti)
    return found if _SAMPLED.fullmatch(found) else ""


def _of_airflow2(ti: Any) -> str:
    """Compute the ids that the scheduler gives the task's span when the task has ended."""
    try:
        from airflow.traces.utils import gen_span_id, gen_trace_id
    except ImportError:  # before 2.10
        return ""
    return f"00-{gen_trace_id(ti.dag_run)}-{gen_span_id(ti)}-01"


def _of_airflow3(ti: Any) -> str:
    """Take the span in which the task runs, or what the scheduler passed to the task."""
    current: dict[str, str] = {}
    try:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(current)
    except ImportError:
        pass
    passed = getattr(ti, "context_carrier", None) or {}
    return current.get("traceparent") or str(passed.get("traceparent", ""))


def _names(ti: Any) -> dict[str, str]:
    """Return the properties that say which task instance a job belongs to."""
    return {
        DAG_ID: str(ti.dag_id),
        TASK_ID: str(ti.task_id),
        RUN_ID: str(ti.run_id),
        TRY_NUMBER: str(ti.try_number),
    }


def spark_conf(ti: Any, conf: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a job's Spark properties: those of conf, and the task instance's that conf lacks.

    The job's spans belong to the task's span. For a job that is a step of EMR, use step_conf.
    """
    trace = traceparent(ti)
    ours = {TRACEPARENT: trace} if trace else {}
    return {**ours, **_names(ti), **(conf or {})}


def step_conf(ti: Any, n: int, args: Sequence[str] = ()) -> list[str]:
    """Return arguments of spark-submit for the nth step that the task instance starts.

    The step's span belongs to the task's span and has an id of its own, since one task may start
    several steps; the job's spans belong to the step's. What args, the step's other arguments,
    set already is left out.
    """
    properties = _names(ti)
    trace = traceparent(ti)
    if trace and not any(TRACEPARENT in arg or STEP_PARENT in arg for arg in args):
        version, trace_id, parent, flags = trace.split("-")
        index = getattr(ti, "map_index", -1)  # Airflow 2 gives all instances of a mapped task one span
        span = hashlib.sha256(f"{trace}|{index}|{n}".encode()).hexdigest()[:16]
        properties[TRACEPARENT] = f"{version}-{trace_id}-{span}-{flags}"
        properties[STEP_PARENT] = parent
    given = {arg.removeprefix("--conf=").partition("=")[0] for arg in args}
    return [word for key, value in properties.items() if key not in given for word in ("--conf", f"{key}={value}")]


class SparkConf(dict[str, Any], Resolved):
    """Spark properties that are completed by spark_conf when the task renders its templates.

    For the fields conf of SparkSubmitOperator and config_kwargs of PySparkOperator.
    """

    def __bool__(self) -> bool:
        """Return True even without properties: Airflow renders no empty field."""
        return True

    def resolve(self, context: Any, **_: Any) -> dict[str, Any]:
        """Return the rendered properties, completed."""
        return spark_conf(context["ti"], _rendered(dict(self), context))

    def iter_references(self) -> Iterable[tuple[Any, str]]:
        """Return the tasks whose results the properties contain."""
        return _references(dict(self))


class EmrSteps(list[Any], Resolved):
    """EMR steps whose spark-submit is completed by step_conf when the task renders its templates.

    For the field steps of EmrAddStepsOperator, and Steps in job_flow_overrides of
    EmrCreateJobFlowOperator. Steps that run something else stay as they are. A task that has two
    such lists numbers the second one's steps from first on.
    """

    def __init__(self, steps: Sequence[Any] = (), first: int = 0) -> None:
        if not isinstance(steps, (list, tuple)):
            raise TypeError(
                f"EmrSteps takes a list of steps and not {type(steps).__name__}: for steps that a file, a template or "
                "another task provides, make the list in a Python task, with step_conf"
            )
        super().__init__(steps)
        self.first = first

    def __add__(self, more: Any) -> EmrSteps:
        """Return the steps of both lists, numbered as one."""
        return EmrSteps([*self, *more], self.first)

    def __radd__(self, before: Any) -> EmrSteps:
        """Return the steps of both lists, numbered as one."""
        return EmrSteps([*before, *self], self.first)

    def copy(self) -> EmrSteps:
        """Return the same steps."""
        return EmrSteps(self, self.first)

    def resolve(self, context: Any, **_: Any) -> list[Any]:
        """Return the rendered steps, completed."""
        steps = _rendered(list(self), context)
        return [_completed(context["ti"], self.first + i, step) for i, step in enumerate(steps)]

    def iter_references(self) -> Iterable[tuple[Any, str]]:
        """Return the tasks whose results the steps contain."""
        return _references(list(self))


def _completed(ti: Any, n: int, step: Any) -> Any:
    """Return a step of EMR's API with step_conf behind the word spark-submit."""
    try:
        jar = step["HadoopJarStep"]
        command, *args = jar["Args"]
    except (KeyError, TypeError, ValueError):
        return step
    if command.rpartition("/")[2] != "spark-submit":
        return step
    return {**step, "HadoopJarStep": {**jar, "Args": [command, *step_conf(ti, n, args), *args]}}


def _rendered(value: Any, context: Any) -> Any:
    """Render the templates in a value, as the operator would."""
    return context["task"].render_template(value, context)


def _references(value: Any) -> Iterable[tuple[Any, str]]:
    """Return the tasks whose results a value contains. Airflow 3 finds them by itself."""
    from airflow.models.xcom_arg import XComArg

    return XComArg.iter_xcom_references(value)


class ObservatoryPlugin(AirflowPlugin):
    """Makes the macros known to Airflow, as macros.observatory."""

    name = "observatory"
    macros = [spark_conf, step_conf, traceparent]
