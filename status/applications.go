package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// maxApplications bounds how many applications one status asks for: most steps have
// one each.
const maxApplications = 100

// AddApplications adds the YARN applications that the steps' own logs name, in the
// order in which they appear there, to steps of which EMR names none.
func (s Source) AddApplications(ctx context.Context, steps []Step) error {
	var ids []string
	since := time.Now()
	for _, step := range steps {
		if step.Started != nil && len(step.ApplicationIDs) == 0 {
			ids = append(ids, strconv.Quote(step.ID))
			since = earlier(since, *step.Started)
		}
	}
	if _, configured := s.Config.Endpoints[platform.WorkloadVictoriaLogs]; !configured || len(ids) == 0 {
		return nil
	}
	const application = "application"
	logs := fmt.Sprintf(`{"%s"="%s"} "%s":in(%s) _msg:~%q`, platform.ServiceName, platform.ServiceStep,
		platform.StepID, strings.Join(ids, ","), platform.YARNApplicationID)
	query := fmt.Sprintf(`%s | extract_regexp %q from _msg | stats by ("%s", %s) min(_time) as first | sort by (first)`,
		logs, "(?P<"+application+">"+platform.YARNApplicationID+")", platform.StepID, application)
	return s.queryLogs(ctx, query, since, maxApplications, func(line map[string]string) {
		at := slices.IndexFunc(steps, func(step Step) bool { return step.ID == line[string(platform.StepID)] })
		if at >= 0 && line[application] != "" {
			steps[at].ApplicationIDs = append(steps[at].ApplicationIDs, line[application])
		}
	})
}

// queryLogs passes on what a query of VictoriaLogs finds of what was logged since a time, at
// most limit records.
func (s Source) queryLogs(ctx context.Context, query string, since time.Time, limit int, take func(record map[string]string)) error {
	values := url.Values{
		"query": {query}, "limit": {strconv.Itoa(limit)},
		"start": {since.Add(-time.Minute).UTC().Format(time.RFC3339)}, // clocks of the node and of EMR differ
	}
	at := strings.TrimSuffix(s.Config.Endpoints[platform.WorkloadVictoriaLogs].URL, "/") + "/select/logsql/query?" + values.Encode()
	body, err := get(ctx, s.Client, requestTimeout, at)
	if err != nil {
		return err
	}
	defer body.Close()
	for records := json.NewDecoder(body); ; {
		var record map[string]string
		if err := records.Decode(&record); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("decode the response: %w", err)
		}
		take(record)
	}
}

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
