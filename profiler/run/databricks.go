package run

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/workspace"
)

// Variables of a workspace, under the names that Databricks' own tools know. They are no options:
// a flag can be read by every user of a machine.
const (
	WorkspaceHost  = "DATABRICKS_HOST"
	WorkspaceToken = "DATABRICKS_TOKEN"
)

// Variables of the Spark UIs of a workspace's clusters, both or none. The second has the name of the
// cookie, as in the notebooks.
const (
	DataPlaneURL    = "DATABRICKS_DATAPLANE_URL"
	DataPlaneCookie = "DATAPLANE_DOMAIN_DBAUTH"
)

// othersMay are the permissions that a file with a secret must not have.
const othersMay fs.FileMode = 0o077

// resolveWorkspace reads the workspace's variables: the environment goes before the file. It reports
// no value.
func (o *Options) resolveWorkspace(lookup func(string) (string, bool)) (violations []error) {
	report := func(path, rule, remedy string) {
		violations = append(violations, Violation{path, "[hidden]", rule, remedy})
	}
	values := map[string]string{}
	if o.WorkspaceFile != "" {
		var err error
		if values, err = readVariables(o.WorkspaceFile); err != nil {
			return []error{fmt.Errorf("databricks_file: %w", err)}
		}
	}
	for _, name := range []string{WorkspaceHost, WorkspaceToken, DataPlaneURL, DataPlaneCookie} {
		if value, given := lookup(name); given && value != "" {
			values[name] = value
		}
		if values[name] == "" && (name == WorkspaceHost || name == WorkspaceToken) {
			violations = append(violations, Violation{name, "", "must be set with databricks", "set it in the environment or in databricks_file"})
		}
	}
	o.Workspace = Workspace{
		Host: values[WorkspaceHost], Token: workspace.Token(values[WorkspaceToken]), Cookie: workspace.Token(values[DataPlaneCookie]),
	}
	if o.Workspace.Host != "" {
		if _, err := workspace.Open(workspace.Options{Host: o.Workspace.Host}); err != nil {
			report(WorkspaceHost, workspace.ErrHost.Error(), "copy it from the browser, up to the first slash after the name")
		}
	}
	if strings.ContainsAny(string(o.Workspace.Token), " \t\r\n") {
		report(WorkspaceToken, "must be one word", "copy the token alone")
	}
	if strings.ContainsAny(string(o.Workspace.Cookie), " \t\r\n;,\"\\") {
		report(DataPlaneCookie, "must be the value of one cookie", "copy the value alone, without its name")
	}
	if given := values[DataPlaneURL]; given != "" {
		if o.Workspace.DataPlane = origin(given); o.Workspace.DataPlane == "" {
			report(DataPlaneURL, workspace.ErrHost.Error(), "copy it from the browser when a Spark UI is open in a tab of its own")
		}
	}
	if (values[DataPlaneURL] == "") != (o.Workspace.Cookie == "") {
		violations = append(violations, Violation{DataPlaneURL + ", " + DataPlaneCookie, "", "must be set together", "set both, or none"})
	}
	return violations
}

// origin returns a URL without its path: a browser shows that of a page. It is "" of a URL that no
// secret may be sent to.
func origin(page string) string {
	parsed, err := url.Parse(page)
	if err != nil {
		return ""
	}
	parsed.Path, parsed.RawPath, parsed.RawQuery, parsed.Fragment = "", "", "", ""
	if _, err := workspace.Open(workspace.Options{Host: parsed.String()}); err != nil {
		return ""
	}
	return parsed.String()
}

// readVariables reads lines NAME=VALUE. Lines without a name and comments are left out.
func readVariables(name string) (map[string]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read the variables: %w", err)
	}
	if mode := info.Mode().Perm(); mode&othersMay != 0 {
		return nil, fmt.Errorf("%q has mode %04o, which lets others read a token; `chmod 600` it", name, mode)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the variables: %w", err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, "=")
		if found && !strings.HasPrefix(line, "#") {
			values[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return values, nil
}
