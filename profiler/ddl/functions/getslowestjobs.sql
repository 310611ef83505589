{{template "chosen" .}}, {{template "executions" .}}, longest AS (
  -- The longest attempt of each stage.
  SELECT s.cluster_id, s.application_id, s.stage_id, max(s.duration_ms) AS duration_ms
  FROM {{.In}}stages AS s
  JOIN chosen AS c ON {{template "same" "s"}}
  WHERE s.duration_ms IS NOT NULL
  GROUP BY s.cluster_id, s.application_id, s.stage_id
), slowest AS (
  SELECT j.cluster_id, j.application_id, j.job_id, l.stage_id, row_number() OVER (
      PARTITION BY j.cluster_id, j.application_id, j.job_id ORDER BY l.duration_ms DESC, array_position(j.stage_ids, l.stage_id)
    ) AS slowness
  FROM {{.In}}jobs AS j
  JOIN chosen AS c ON {{template "same" "j"}}
  JOIN longest AS l ON l.cluster_id = j.cluster_id AND l.application_id = j.application_id AND array_contains(j.stage_ids, l.stage_id)
), timed AS (
  SELECT j.*, c.duration_ms AS wall_ms, c.start_time AS application_start, c.place,
         max(j.completion_time) OVER earlier AS busy_until, count(*) OVER earlier AS begun, count(j.completion_time) OVER earlier AS ended
  FROM {{.In}}jobs AS j
  JOIN chosen AS c ON {{template "same" "j"}}
  WINDOW earlier AS (
    PARTITION BY j.cluster_id, j.application_id ORDER BY j.submission_time NULLS FIRST, j.job_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
), numbered AS (
  SELECT row_number() OVER (ORDER BY j.duration_ms DESC NULLS FIRST, j.cluster_id, j.application_id, j.job_id) AS rank, j.application_id, j.job_id,
         coalesce(nullif(j.description, ''), j.job_name) AS job_name, j.status, j.duration_ms,
         CASE WHEN j.wall_ms > 0 THEN j.duration_ms / j.wall_ms END AS share_of_wall,
         CASE WHEN j.begun = j.ended AND j.submission_time IS NOT NULL AND j.application_start IS NOT NULL THEN greatest(CAST(0 AS BIGINT),
           unix_millis(j.submission_time) - unix_millis(greatest(coalesce(j.busy_until, j.application_start), j.application_start))) END AS gap_before_ms,
         j.num_tasks, j.num_failed_tasks, l.stage_id AS slowest_stage_id, e.sql_id,
         {{template "firstline" "j.failure_reason"}} AS failure_reason
  FROM timed AS j
  LEFT JOIN slowest AS l ON l.cluster_id = j.cluster_id AND l.application_id = j.application_id AND l.job_id = j.job_id AND l.slowness = 1
  LEFT JOIN executions AS e ON e.cluster_id = j.cluster_id AND e.application_id = j.application_id AND e.job_id = j.job_id
)
SELECT * FROM numbered WHERE rank <= top ORDER BY rank
