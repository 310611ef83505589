{{template "chosen" .}}, present AS (
  SELECT e.section, e.name AS property, e.value, e.masked, count(*) AS applications
  FROM {{.In}}environments AS e
  JOIN chosen AS c ON {{template "same" "e"}}
  GROUP BY e.section, e.name, e.value, e.masked
), cures AS (
  -- Of several findings that change a property, the most costly one of the latest application counts.
  SELECT c.place, f.finding, f.impact_ms, f.core_hours, get(f.changes, p.number) AS change,
         coalesce(nullif(substr(get(f.settings, p.number), 1 + length(split_part(get(f.settings, p.number), '=', 1) )), ''), '=') AS now
  FROM {{.In}}findings AS f
  JOIN chosen AS c ON {{template "same" "f"}}
  CROSS JOIN (VALUES {{range $i, $n := .Places}}{{if $i}}, {{end}}({{$n}}){{end}}) AS p(number)
  WHERE f.not_checked IS NULL AND get(f.changes, p.number) IS NOT NULL
), wanted AS (
  SELECT split_part(change, '=', 1) AS property, substr(now, 2) AS value, substr(change, length(split_part(change, '=', 1)) + 2) AS rule_wants,
         finding AS rule,
         row_number() OVER (PARTITION BY split_part(change, '=', 1), now ORDER BY place, coalesce(impact_ms, 0) DESC, coalesce(core_hours, 0) DESC, finding) AS cost_place
  FROM cures
), joined AS (
  SELECT coalesce(e.property, w.property) AS property, coalesce(e.value, w.value) AS value, coalesce(e.masked, false) AS masked,
         coalesce(e.section, 'spark') AS section, coalesce(e.applications, 0) AS applications, w.rule_wants, w.rule
  FROM present AS e
  FULL JOIN (SELECT * FROM wanted WHERE cost_place = 1) AS w ON e.section = 'spark' AND e.property = w.property AND e.value = w.value
), numbered AS (
  SELECT row_number() OVER (ORDER BY CASE WHEN rule IS NULL THEN 1 ELSE 0 END, concat(section, '/', property, '=', value)) AS rank, property, value, masked, section,
         applications, rule_wants, rule
  FROM joined
  WHERE CASE WHEN part IS NULL OR part = '' THEN section = 'spark' ELSE contains(lower(property), lower(part)) END
)
SELECT * FROM numbered WHERE rank <= top ORDER BY rank
