package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/internal/stepcause"
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

// maxCauseRecords bounds what is read of the end of a step's logs. A stack trace is one record.
const maxCauseRecords = 2000

// AddCauses adds why steps failed, as their own logs tell. EMR itself quotes a line of the
// step's stderr at best.
func (s Source) AddCauses(ctx context.Context, steps []Step) error {
	if _, configured := s.Config.Endpoints[platform.WorkloadVictoriaLogs]; !configured {
		return nil
	}
	var errs []error
	for i, step := range steps {
		if step.State != types.StepStateFailed || step.Started == nil {
			continue
		}
		cause, err := s.causeOf(ctx, step)
		if err != nil {
			errs = append(errs, fmt.Errorf("read the logs of step %s: %w", step.ID, err))
		}
		if cause != nil {
			steps[i].Cause = cause.String()
		}
	}
	return errors.Join(errs...)
}

func (s Source) causeOf(ctx context.Context, step Step) (*stepcause.Cause, error) {
	var search stepcause.Search
	filter := fmt.Sprintf(`{"%s"="%s"} "%s":=%q`, platform.ServiceName, platform.ServiceStep, platform.StepID, step.ID)
	err := s.searchLogs(ctx, filter, *step.Started, func(file string, finder *stepcause.Finder) {
		kind := stepcause.Output
		if path.Base(file) == "controller" {
			kind = stepcause.Controller
		}
		search.Add(file, kind, finder)
	})
	if ids := step.ApplicationIDs; err == nil && search.WantsDriver() && len(ids) > 0 {
		filter := fmt.Sprintf(`{"%s"="%s"} "%s":=%q "%s":~%q`, platform.ServiceName, platform.ServiceContainer,
			platform.SparkAppID, ids[len(ids)-1], platform.ContainerID, platform.DriverContainerSuffix+"$")
		err = s.searchLogs(ctx, filter, *step.Started, func(file string, finder *stepcause.Finder) {
			search.Add(file, stepcause.Driver, finder)
		})
	}
	if ids := step.ApplicationIDs; err == nil && search.WantsExecutors() && len(ids) > 0 {
		query := fmt.Sprintf(`{"%s"="%s"} "%s":=%q %q | fields _time, _msg | sort by (_time) limit 1`, platform.ServiceName,
			platform.ServiceContainer, platform.SparkAppID, ids[len(ids)-1], stepcause.OutOfMemory)
		err = s.queryLogs(ctx, query, *step.Started, 1, func(record map[string]string) {
			for line := range strings.Lines(record["_msg"]) {
				search.AddExecutor(line)
			}
		})
	}
	return search.Cause(), err
}

// searchLogs passes on what was found in each file whose records match a filter, in the
// order in which they began.
func (s Source) searchLogs(ctx context.Context, filter string, since time.Time, add func(file string, finder *stepcause.Finder)) error {
	var files []string
	finders := map[string]*stepcause.Finder{}
	query := fmt.Sprintf(`%s | fields _time, _msg, "%s" | sort by (_time desc) limit %d | sort by (_time)`, filter, platform.LogPath,
		maxCauseRecords)
	err := s.queryLogs(ctx, query, since, maxCauseRecords, func(record map[string]string) {
		file := record[string(platform.LogPath)]
		if finders[file] == nil {
			files, finders[file] = append(files, file), &stepcause.Finder{}
		}
		for line := range strings.Lines(record["_msg"]) {
			finders[file].Add(strings.TrimSuffix(line, "\n"))
		}
	})
	if err != nil {
		return err
	}
	for _, file := range files {
		add(file, finders[file])
	}
	return nil
}
