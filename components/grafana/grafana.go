package grafana

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana"
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":grafana:Grafana"

// Args is the content of Grafana. Validate checks it.
type Args struct {
	Dashboards []dashboards.Dashboard // required; slugs and uids distinct
	Endpoints  pulumi.StringMapInput  // required: workload -> URL as Grafana's own pod reaches it
	GrafanaURL pulumi.StringInput     // required: as operators reach it; dashboard URLs begin with it
}

// Grafana is the content of one Grafana server: data sources, folder and dashboards.
type Grafana struct {
	pulumi.ResourceState

	DashboardURLs pulumi.StringMapOutput `pulumi:"dashboardUrls"` // slug -> URL
}

// uidPattern is Grafana's rule for the uid of a dashboard or folder (HTTP API
// reference, "Dashboard HTTP API": at most 40 characters).
var uidPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// Validate reports every violation of the arguments at once.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("grafana: arguments are nil; pass *grafana.Args")
	}
	var l violation.List
	l.Require(len(a.Dashboards) > 0, "grafana.dashboards", nil, "must not be empty", "pass dashboards.Suite()")
	l.Require(a.Endpoints != nil, "grafana.endpoints", nil, "must be set", "pass the endpoints of the workloads")
	l.Require(a.GrafanaURL != nil, "grafana.grafanaUrl", nil, "must be set", "pass the URL of the workloads' Grafana")
	seen := map[string]bool{}
	for i, d := range a.Dashboards {
		at := fmt.Sprintf("grafana.dashboards[%d]", i)
		l.Require(uidPattern.MatchString(d.UID), at+".uid", d.UID, "must be 1 to 40 letters, digits, _ and -", "choose another uid")
		l.Require(d.Slug != "" && !seen["slug "+d.Slug], at+".slug", d.Slug, "must be set and distinct", "rename one of the dashboards")
		l.Require(!seen["uid "+d.UID], at+".uid", d.UID, "must be distinct", "change one of them")
		l.Require(d.Folder != "", at+".folder", d.Folder, "must be set", "name the folder it belongs to")
		l.Require(json.Valid(d.JSON), at+".json", string(d.JSON), "must be JSON", "render it again")
		seen["slug "+d.Slug], seen["uid "+d.UID] = true, true
	}
	return l.Err()
}

// ProviderArgs configures the Grafana provider for the Grafana of the workloads
// component: basic authentication as its administrator over TLS, trusting only
// caCertificate (PEM).
func ProviderArgs(url, password, caCertificate pulumi.StringInput) *grafana.ProviderArgs {
	return &grafana.ProviderArgs{
		Url:    url.ToStringOutput().ToStringPtrOutput(),
		Auth:   pulumi.ToSecret(pulumi.Sprintf("%s:%s", platform.GrafanaUser, password)).(pulumi.StringOutput).ToStringPtrOutput(),
		CaCert: caCertificate.ToStringOutput().ToStringPtrOutput(),
	}
}

// New provisions Grafana. It registers nothing when args are invalid. opts must
// carry an explicit grafana provider; a DeletedWith among them applies to every
// resource.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Grafana, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	g := &Grafana{}
	children, err := child.Register(ctx, g, TypeToken, name, pulumi.Map{"endpoints": args.Endpoints, "grafanaUrl": args.GrafanaURL}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	sources, err := b.createDatasources()
	if err != nil {
		return nil, err
	}
	urls, err := b.createDashboards(sources)
	if err != nil {
		return nil, err
	}
	g.DashboardURLs = urls.ToStringMapOutput()
	return g, b.RegisterOutputs()
}

type builder struct {
	child.Builder
	args *Args
}

// createDashboards creates each dashboard in its folder, after the datasources
// that it queries. The result is their URLs by slug.
func (b *builder) createDashboards(sources []pulumi.Resource) (pulumi.StringMap, error) {
	folders, err := b.createFolders()
	if err != nil {
		return nil, err
	}
	urls := pulumi.StringMap{}
	for _, d := range b.args.Dashboards {
		created, err := oss.NewDashboard(b.Ctx, b.Name(d.Slug), &oss.DashboardArgs{
			ConfigJson: pulumi.String(d.JSON), Folder: folders[d.Folder].Uid, Overwrite: pulumi.Bool(true),
			Message: pulumi.String("written by " + platform.Project),
		}, b.Options(pulumi.DependsOn(sources))...)
		if err != nil {
			return nil, fmt.Errorf("create dashboard %s: %w", d.Slug, err)
		}
		path := "/d/" + d.UID + "/" + d.Slug
		in := []pulumi.StringInput{b.args.GrafanaURL, created.ID().ToStringOutput()}
		urls[d.Slug] = output.Join(in, func(v []string) (string, error) { return strings.TrimSuffix(v[0], "/") + path, nil })
	}
	return urls, nil
}

func (b *builder) createFolders() (map[string]*oss.Folder, error) {
	out := map[string]*oss.Folder{}
	for _, d := range b.args.Dashboards {
		if out[d.Folder] != nil {
			continue
		}
		uid := slug(d.Folder)
		f, err := oss.NewFolder(b.Ctx, b.Name("folder-"+uid), &oss.FolderArgs{Title: pulumi.String(d.Folder), Uid: pulumi.String(uid)},
			b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("create folder %s: %w", d.Folder, err)
		}
		out[d.Folder] = f
	}
	return out, nil
}

// slug turns a folder's title into a uid.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}
