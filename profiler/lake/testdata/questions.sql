-- Which applications took longest, and how much of their time computed or waited?
SELECT a.cluster_id, a.application_id, a.attempt_id, a.duration_ms, a.completed,
       SUM(CASE WHEN p.phase = 'compute' THEN p.duration_ms ELSE 0 END) AS compute_ms,
       SUM(CASE WHEN p.phase = 'resource_wait' THEN p.duration_ms ELSE 0 END) AS wait_ms
FROM applications a
LEFT JOIN phases p ON p.cluster_id = a.cluster_id AND p.application_id = a.application_id AND p.attempt_id = a.attempt_id
GROUP BY a.cluster_id, a.application_id, a.attempt_id, a.duration_ms, a.completed
ORDER BY a.duration_ms DESC NULLS LAST, a.application_id, a.attempt_id

-- Which jobs failed, and why?
SELECT application_id, attempt_id, job_id, submission_time, num_failed_tasks, num_failed_stages, SUBSTR(failure_reason, 1, 80) AS reason
FROM jobs
WHERE status = 'FAILED'
ORDER BY application_id, attempt_id, job_id

-- Which stages have a task that took more than twice the median?
SELECT s.application_id, s.attempt_id, s.stage_id, s.stage_attempt_id, s.stage_name, s.num_complete_tasks,
       ELEMENT_AT(t.duration, 3) AS median_ms, ELEMENT_AT(t.duration, 5) AS longest_ms
FROM stages s
JOIN task_summaries t ON t.cluster_id = s.cluster_id AND t.application_id = s.application_id AND t.attempt_id = s.attempt_id
 AND t.stage_id = s.stage_id AND t.stage_attempt_id = s.stage_attempt_id
WHERE ELEMENT_AT(t.duration, 5) > 2 * ELEMENT_AT(t.duration, 3)
ORDER BY s.application_id, s.attempt_id, s.stage_id, s.stage_attempt_id

-- How much did each application read, write, shuffle and spill?
SELECT application_id, attempt_id, CAST(SUM(input_bytes) AS BIGINT) AS read_bytes, CAST(SUM(output_bytes) AS BIGINT) AS written_bytes,
       CAST(SUM(shuffle_write_bytes) AS BIGINT) AS shuffle_bytes, CAST(SUM(disk_bytes_spilled) AS BIGINT) AS spilled_bytes,
       CAST(SUM(executor_cpu_time) AS BIGINT) AS cpu_ns
FROM stages
GROUP BY application_id, attempt_id
ORDER BY application_id, attempt_id

-- Which SQL executions took longest, and how many jobs and tasks did they need?
SELECT q.application_id, q.attempt_id, q.sql_id, q.status, q.duration_ms, COUNT(j.job_id) AS jobs, CAST(SUM(j.num_completed_tasks) AS BIGINT) AS tasks
FROM sql q
LEFT JOIN jobs j ON j.cluster_id = q.cluster_id AND j.application_id = q.application_id AND j.attempt_id = q.attempt_id AND j.sql_id = q.sql_id
GROUP BY q.application_id, q.attempt_id, q.sql_id, q.status, q.duration_ms
ORDER BY q.duration_ms DESC NULLS LAST, q.application_id, q.attempt_id, q.sql_id

-- Which operators handled the most rows?
SELECT node_name, COUNT(*) AS operators, CAST(SUM(value) AS BIGINT) AS output_rows
FROM sql_nodes
WHERE metric = 'number of output rows'
GROUP BY node_name
ORDER BY output_rows DESC NULLS LAST, node_name

-- How well were the executors' cores used, and which executors were lost?
SELECT e.application_id, e.attempt_id, e.executor_id, e.total_cores, e.completed_tasks, e.add_time, e.remove_time, SUBSTR(e.remove_reason, 1, 60) AS reason,
       ROUND(100.0 * e.total_duration / NULLIF(a.duration_ms * e.total_cores, 0), 1) AS used_percent
FROM executors e
JOIN applications a ON a.cluster_id = e.cluster_id AND a.application_id = e.application_id AND a.attempt_id = e.attempt_id
WHERE e.executor_id <> 'driver'
ORDER BY e.application_id, e.attempt_id, e.executor_id

-- Why did tasks fail, and where?
SELECT application_id, attempt_id, host, status, SUBSTR(error_message, 1, 60) AS reason, COUNT(*) AS attempts, MIN(launch_time) AS first_time
FROM tasks
WHERE status IN ('FAILED', 'KILLED')
GROUP BY application_id, attempt_id, host, status, SUBSTR(error_message, 1, 60)
ORDER BY application_id, attempt_id, host, status, reason NULLS FIRST

-- Which settings differ between applications?
SELECT name, COUNT(DISTINCT value) AS values_seen, MIN(value) AS one, MAX(value) AS another
FROM environments
WHERE section = 'spark' AND NOT masked
GROUP BY name
HAVING COUNT(DISTINCT value) > 1
ORDER BY name

-- Which stages belong to the longest job of each application, and what is known to be missing?
SELECT r.application_id, r.attempt_id, r.job_id, s.stage_id, s.status, c.missing, c.reason
FROM (SELECT j.*, ROW_NUMBER() OVER (PARTITION BY cluster_id, application_id, attempt_id ORDER BY duration_ms DESC NULLS LAST, job_id) AS place FROM jobs j) r
JOIN stages s ON s.cluster_id = r.cluster_id AND s.application_id = r.application_id AND s.attempt_id = r.attempt_id
 AND ARRAY_CONTAINS(r.stage_ids, s.stage_id)
LEFT JOIN completeness c ON c.cluster_id = r.cluster_id AND c.application_id = r.application_id AND c.attempt_id = r.attempt_id AND c.endpoint = 'stages'
WHERE r.place = 1
ORDER BY r.application_id, r.attempt_id, r.job_id, s.stage_id, s.stage_attempt_id

-- What cost each application most, and which settings cure it?
SELECT application_id, attempt_id, finding, severity, stage_id, sql_id, impact_ms, value, limit_value, unit, summary,
       changes, settings
FROM findings
WHERE not_checked IS NULL
ORDER BY application_id, attempt_id, impact_ms DESC NULLS LAST, core_hours DESC NULLS LAST, finding, stage_id, stage_attempt_id, sql_id

-- Which findings cost most over all applications, and in how many do they occur?
SELECT finding, COUNT(DISTINCT application_id) AS applications, CAST(SUM(impact_ms) AS BIGINT) AS impact_ms, ROUND(SUM(core_hours), 3) AS core_hours
FROM findings
WHERE not_checked IS NULL
GROUP BY finding
ORDER BY impact_ms DESC NULLS LAST, core_hours DESC NULLS LAST, finding

-- Which rules could not be judged, and why?
SELECT finding, not_checked, COUNT(*) AS applications
FROM findings
WHERE not_checked IS NOT NULL
GROUP BY finding, not_checked
ORDER BY finding, not_checked

-- What did clusters cost, and which part of it did nobody use?
SELECT cluster_id, ROUND(SUM(usd), 2) AS usd, ROUND(SUM(CASE WHEN kind = 'idle' THEN usd ELSE 0 END) / SUM(usd), 3) AS idle_share
FROM application_costs
GROUP BY cluster_id
ORDER BY usd DESC NULLS LAST, cluster_id
