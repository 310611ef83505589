{{template "chosen" .}}, {{template "executions" .}}, {{template "stagerows" .}}, numbered AS (
  SELECT row_number() OVER (ORDER BY stage_attempt_id) AS rank, application_id, stage_id, stage_attempt_id,
         stage_name, status, failure_reason, duration_ms, share_of_wall, num_tasks, num_failed_tasks, task_p50_ms, task_p95_ms, task_max_ms,
         skew_ratio, run_time_ms, cpu_time_ms, gc_time_ms, fetch_wait_ms, input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes,
         shuffle_block_bytes_mean, disk_bytes_spilled, sql_id, job_ids, rules, duration, gc_times, inputs, shuffle_reads, spills, worst_host,
         worst_host_tasks, worst_host_mean_ms, summaries
  FROM stage_rows
  WHERE place = 1 AND stage_id = stage
)
SELECT * FROM numbered ORDER BY rank
