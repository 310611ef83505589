{{template "chosen" .}}, lives AS (
  SELECT e.*, c.executor_memory_bytes, split_part(e.host_port, ':', 1) AS host,
         unix_millis(coalesce(e.remove_time, greatest(c.end_time, c.last_event_time))) - unix_millis(e.add_time) AS lived_ms
  FROM {{.In}}executors AS e
  JOIN chosen AS c ON {{template "same" "e"}}
  WHERE e.executor_id <> '{{.Driver}}'
), members AS (
  SELECT 1 AS kind, 'all' AS name, * FROM lives
  UNION ALL
  SELECT 2, concat('removed ', remove_class), * FROM lives WHERE remove_class IS NOT NULL
  UNION ALL
  SELECT 3, concat('host ', host), * FROM lives
), added AS (
  SELECT cluster_id, application_id, kind, name, count(*) AS executors, CAST(sum(total_cores) AS BIGINT) AS cores,
         CASE WHEN count(CASE WHEN lived_ms > 0 THEN 1 END) = count(*) THEN sum(total_cores * lived_ms) END AS core_ms,
         sum(total_duration) AS run_ms, sum(total_gc_time) AS gc_ms, max(peak_jvm_heap_bytes) AS heap_bytes, max(executor_memory_bytes) AS memory_bytes,
         max(peak_process_tree_rss_bytes) AS peak_rss_bytes, CAST(sum(total_tasks) AS BIGINT) AS num_tasks,
         CAST(sum(failed_tasks) AS BIGINT) AS num_failed_tasks, count(CASE WHEN remove_class IN ({{.Losses}}) THEN 1 END) AS lost
  FROM members
  GROUP BY cluster_id, application_id, kind, name
), shares AS (
  SELECT *, CASE WHEN core_ms > 0 THEN core_ms / 3600000 END AS core_hours,
         CASE WHEN core_ms > 0 THEN greatest(CAST(0 AS DOUBLE), 1 - run_ms / core_ms) END AS idle_share,
         CASE WHEN heap_bytes > 0 AND memory_bytes > 0 THEN heap_bytes / memory_bytes END AS peak_heap_ratio,
         CASE WHEN run_ms > 0 THEN gc_ms / run_ms END AS gc_share
  FROM added
), numbered AS (
  SELECT row_number() OVER (ORDER BY kind, num_failed_tasks + coalesce(gc_share, 0) DESC, cluster_id, application_id, name) AS rank, application_id, name, executors,
         cores, core_hours, idle_share, peak_heap_ratio, nullif(peak_rss_bytes, 0) AS peak_rss_bytes, gc_share, num_tasks, num_failed_tasks, lost
  FROM shares
)
SELECT * FROM numbered WHERE rank <= top ORDER BY rank
