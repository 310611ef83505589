WITH judged AS (
  -- Rules that could not be judged have rows, too: an application without any row was not judged.
  SELECT cluster_id, application_id, attempt_id, dt, count(CASE WHEN not_checked IS NULL AND severity = '{{.Critical}}' THEN 1 END) AS critical
  FROM {{.In}}findings
  GROUP BY cluster_id, application_id, attempt_id, dt
), cost AS (
  SELECT cluster_id, application_id, attempt_id, max(usd) AS usd
  FROM {{.In}}application_costs
  WHERE application_id <> ''
  GROUP BY cluster_id, application_id, attempt_id
), numbered AS (
  SELECT row_number() OVER (ORDER BY a.start_time DESC NULLS LAST, a.cluster_id, a.application_id, a.attempt_id) AS rank, a.application_id,
         a.attempt_id, a.application_name, a.cluster_id, a.cluster_name, a.step_id, a.trace_id, a.spark_user, a.spark_version, a.start_time,
         a.duration_ms, a.completed, a.outcome, a.num_failed_jobs, a.num_failed_tasks, a.core_ms / 3600000 AS core_hours, c.usd,
         j.critical AS critical_findings, a.source
  FROM {{.In}}applications AS a
  LEFT JOIN judged AS j ON j.cluster_id = a.cluster_id AND j.application_id = a.application_id AND j.attempt_id = a.attempt_id AND j.dt = a.dt
  LEFT JOIN cost AS c ON c.cluster_id = a.cluster_id AND c.application_id = a.application_id AND c.attempt_id = a.attempt_id
  WHERE id IS NULL OR id = '' OR a.application_id = id OR a.cluster_id = id OR a.step_id = id OR a.trace_id = id
    OR contains(lower(a.application_name), lower(id))
)
SELECT * FROM numbered WHERE rank <= top ORDER BY rank
