package status

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/platform"
)

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
