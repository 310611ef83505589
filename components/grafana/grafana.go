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

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/internal/fault"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":grafana:Grafana"

// Args says what to put into Grafana.
type Args struct {
	Dashboards []dashboards.Dashboard // required; slugs and uids distinct
	Endpoints  pulumi.StringMapInput  // required: workload -> URL as Grafana's own pod reaches it
	GrafanaURL pulumi.StringInput     // required: as people reach it; dashboard URLs begin with it
}

// Grafana's content.
type Grafana struct {
	pulumi.ResourceState

	DashboardURLs pulumi.StringMapOutput `pulumi:"dashboardUrls"` // slug -> URL
}

// uidPattern is Grafana's rule for the uid of a dashboard or folder (HTTP API
// reference, "Dashboard HTTP API": at most 40 characters).
var uidPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// Validate reports every fault; it registers nothing.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("grafana: no arguments; give Args")
	}
	var l fault.List
	l.Unless(len(a.Dashboards) > 0, "grafana.dashboards", nil, "must not be empty", "pass dashboards.Suite()")
	l.Unless(a.Endpoints != nil, "grafana.endpoints", nil, "must be set", "pass the endpoints of the workloads")
	l.Unless(a.GrafanaURL != nil, "grafana.grafanaUrl", nil, "must be set", "pass the URL of the workloads' Grafana")
	seen := map[string]bool{}
	for i, d := range a.Dashboards {
		at := fmt.Sprintf("grafana.dashboards[%d]", i)
		l.Unless(uidPattern.MatchString(d.UID), at+".uid", d.UID, "must be 1 to 40 letters, digits, _ and -", "choose another uid")
		l.Unless(d.Slug != "" && !seen["slug "+d.Slug], at+".slug", d.Slug, "must be set and distinct", "rename one of the dashboards")
		l.Unless(!seen["uid "+d.UID], at+".uid", d.UID, "must be distinct", "change one of them")
		l.Unless(d.Folder != "", at+".folder", d.Folder, "must be set", "name the folder it belongs to")
		l.Unless(json.Valid(d.JSON), at+".json", string(d.JSON), "must be JSON", "render it again")
		seen["slug "+d.Slug], seen["uid "+d.UID] = true, true
	}
	return l.Join()
}

// ProviderArgs configures the Grafana provider for the Grafana of the
// workloads component: basic authentication as its administrator over TLS,
// trusting authority (PEM) alone.
func ProviderArgs(url, password, authority pulumi.StringInput) *grafana.ProviderArgs {
	return &grafana.ProviderArgs{
		Url:    url.ToStringOutput().ToStringPtrOutput(),
		Auth:   pulumi.ToSecret(pulumi.Sprintf("%s:%s", workloadconfig.GrafanaAdmin, password)).(pulumi.StringOutput).ToStringPtrOutput(),
		CaCert: authority.ToStringOutput().ToStringPtrOutput(),
	}
}

// New provisions Grafana. It registers nothing when args are invalid. opts must
// carry an explicit grafana provider; a DeletedWith among them holds for
// everything.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Grafana, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	given, err := pulumi.NewResourceOptions(opts...)
	if err != nil {
		return nil, fmt.Errorf("read options of grafana %s: %w", name, err)
	}
	g := &Grafana{}
	if err := ctx.RegisterComponentResourceV2(TypeToken, name, pulumi.Map{"endpoints": args.Endpoints, "grafanaUrl": args.GrafanaURL}, g, opts...); err != nil {
		return nil, fmt.Errorf("register grafana %s: %w", name, err)
	}
	b := &builder{ctx: ctx, parent: g, base: name, args: args, deletedWith: given.DeletedWith}
	sources, err := b.datasources()
	if err != nil {
		return nil, err
	}
	urls, err := b.dashboards(sources)
	if err != nil {
		return nil, err
	}
	g.DashboardURLs = urls.ToStringMapOutput()
	if err := ctx.RegisterResourceOutputs(g, pulumi.Map{"dashboardUrls": g.DashboardURLs}); err != nil {
		return nil, fmt.Errorf("register outputs of grafana %s: %w", name, err)
	}
	return g, nil
}

type builder struct {
	ctx         *pulumi.Context
	parent      pulumi.Resource
	base        string
	args        *Args
	deletedWith pulumi.Resource
}

func (b *builder) name(role string) string { return b.base + "-" + role }

// child are the options of a child: on destroy the server may be gone first.
func (b *builder) child(more ...pulumi.ResourceOption) []pulumi.ResourceOption {
	opts := []pulumi.ResourceOption{pulumi.Parent(b.parent)}
	if b.deletedWith != nil {
		opts = append(opts, pulumi.DeletedWith(b.deletedWith))
	}
	return append(opts, more...)
}

// dashboards puts each into its folder, after the datasources it asks.
func (b *builder) dashboards(sources []pulumi.Resource) (pulumi.StringMap, error) {
	folders, err := b.folders()
	if err != nil {
		return nil, err
	}
	urls := pulumi.StringMap{}
	for _, d := range b.args.Dashboards {
		made, err := oss.NewDashboard(b.ctx, b.name(d.Slug), &oss.DashboardArgs{
			ConfigJson: pulumi.String(d.JSON), Folder: folders[d.Folder].Uid, Overwrite: pulumi.Bool(true),
			Message: pulumi.String("written by " + platform.Project),
		}, b.child(pulumi.DependsOn(sources))...)
		if err != nil {
			return nil, fmt.Errorf("create dashboard %s: %w", d.Slug, err)
		}
		path := "/d/" + d.UID + "/" + d.Slug
		urls[d.Slug] = pulumi.All(b.args.GrafanaURL, made.ID()).ApplyT(func(v []any) string {
			return strings.TrimSuffix(v[0].(string), "/") + path
		}).(pulumi.StringOutput)
	}
	return urls, nil
}

func (b *builder) folders() (map[string]*oss.Folder, error) {
	out := map[string]*oss.Folder{}
	for _, d := range b.args.Dashboards {
		if out[d.Folder] != nil {
			continue
		}
		uid := slug(d.Folder)
		f, err := oss.NewFolder(b.ctx, b.name("folder-"+uid), &oss.FolderArgs{Title: pulumi.String(d.Folder), Uid: pulumi.String(uid)}, b.child()...)
		if err != nil {
			return nil, fmt.Errorf("create folder %s: %w", d.Folder, err)
		}
		out[d.Folder] = f
	}
	return out, nil
}

// slug makes a uid of a folder's title.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}
