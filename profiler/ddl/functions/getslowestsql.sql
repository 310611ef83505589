{{template "chosen" .}}, {{template "executions" .}}, {{template "stagerows" .}}, spilled AS (
  SELECT application_id, place, sql_id, CAST(sum(disk_bytes_spilled) AS BIGINT) AS disk_bytes_spilled
  FROM stage_rows
  WHERE sql_id IS NOT NULL
  GROUP BY application_id, place, sql_id
), operators AS (
  SELECT n.cluster_id, n.application_id, n.sql_id,
         max(CASE WHEN n.metric = '{{.DataSize}}' AND n.node_name LIKE 'BroadcastExchange%' THEN n.value END) AS broadcast_bytes_max,
         CAST(sum(CASE WHEN n.metric = '{{.FilesWritten}}' THEN n.value END) AS BIGINT) AS files_written,
         CAST(sum(CASE WHEN n.metric = '{{.BytesWritten}}' THEN n.value END) AS BIGINT) AS written_bytes
  FROM {{.In}}sql_nodes AS n
  JOIN chosen AS c ON {{template "same" "n"}}
  GROUP BY n.cluster_id, n.application_id, n.sql_id
), breaking AS (
  SELECT f.cluster_id, f.application_id, f.sql_id, array_sort(array_agg(DISTINCT f.finding)) AS rules
  FROM {{.In}}findings AS f
  JOIN chosen AS c ON {{template "same" "f"}}
  WHERE f.not_checked IS NULL AND f.sql_id IS NOT NULL
  GROUP BY f.cluster_id, f.application_id, f.sql_id
), numbered AS (
  SELECT row_number() OVER (ORDER BY x.duration_ms DESC NULLS FIRST, x.cluster_id, x.application_id, x.sql_id) AS rank, x.application_id, x.sql_id, x.description,
         x.status, {{template "firstline" "x.error_message"}} AS error_message, x.duration_ms,
         CASE WHEN c.duration_ms > 0 THEN x.duration_ms / c.duration_ms END AS share_of_wall, o.broadcast_bytes_max, o.files_written,
         o.written_bytes, coalesce(s.disk_bytes_spilled, CAST(0 AS BIGINT)) AS disk_bytes_spilled, b.rules
  FROM {{.In}}sql AS x
  JOIN chosen AS c ON {{template "same" "x"}}
  LEFT JOIN operators AS o ON o.cluster_id = x.cluster_id AND o.application_id = x.application_id AND o.sql_id = x.sql_id
  LEFT JOIN spilled AS s ON s.place = c.place AND s.sql_id = x.sql_id
  LEFT JOIN breaking AS b ON b.cluster_id = x.cluster_id AND b.application_id = x.application_id AND b.sql_id = x.sql_id
)
SELECT * FROM numbered WHERE rank <= top ORDER BY rank
