package record

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Account is what is known of one AWS account, one Kubernetes cluster and one Grafana
// from the engine's requests in this run. It is safe for concurrent use.
type Account struct {
	ID string // 12 digits
	// Unoffered lists by zone the instance types that EC2 does not offer there. It
	// must not change once requests arrive.
	Unoffered map[string][]string

	mu            sync.Mutex
	region        string
	defaultTags   map[string]string
	grafana       string // URL of the Grafana configured last
	subnets       map[string]subnet
	zones         map[string]string                // of volumes and instances
	defaultGroups map[string]string                // VPC id -> its default security group
	interfaces    map[string]placement             // by network interface id
	addresses     map[string]map[netip.Addr]string // subnet id -> address -> URN of its owner
	names         map[string]string                // type and name -> URN, see nameKey
	existing      map[string]bool                  // type and id of what was created or named and not deleted
	objects       map[string]map[string]bool       // bucket -> keys of its objects
	public        publicAddresses
	routes        routes
	vpcs          vpcs
	ended         map[string]bool // ids of resources that ended without the engine, see End
	lacking       map[string]bool // services whose role the account lacks
}

// placement is where a network interface is.
type placement struct {
	subnet  string // id
	address netip.Addr
}

type subnet struct {
	vpc, zone string
	network   netip.Prefix
}

// NewAccount returns an empty account. Empty arguments default to us-east-1 and
// 000000000000.
func NewAccount(region, id string) *Account {
	return &Account{
		ID: cmp.Or(id, "000000000000"), region: cmp.Or(region, "us-east-1"),
		subnets: map[string]subnet{}, zones: map[string]string{}, defaultGroups: map[string]string{},
		interfaces: map[string]placement{}, addresses: map[string]map[netip.Addr]string{}, names: map[string]string{},
		existing: map[string]bool{}, objects: map[string]map[string]bool{},
		public: newPublicAddresses(), routes: newRoutes(), vpcs: newVPCs(), ended: map[string]bool{}, lacking: map[string]bool{},
	}
}

// Region returns the region of the provider configured last.
func (a *Account) Region() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.region
}

// DefaultTags returns the default tags of the provider configured last.
func (a *Account) DefaultTags() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.defaultTags
}

// Configure sets region and default tags of a provider. An empty region keeps
// the current one.
func (a *Account) Configure(region string, defaultTags map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.region = cmp.Or(region, a.region)
	a.defaultTags = defaultTags
}

// ConfigureGrafana sets the URL of the Grafana.
func (a *Account) ConfigureGrafana(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.grafana = strings.TrimSuffix(url, "/")
}

func (a *Account) grafanaURL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.grafana
}

// Add adds an existing resource: its name, its subnet, its addresses.
func (a *Account) Add(r Resource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := property.Plain(r.Outputs)
	a.existing[r.Type+" "+r.ID] = true
	if key := nameKey(r.Type, out); key != "" {
		a.names[key] = r.URN
	}
	text := func(key string) string { s, _ := out[key].(string); return s }
	switch r.Type {
	case objectType:
		a.addObject(text("bucket"), r.ID)
	case "aws:ec2/subnet:Subnet":
		if p, err := netip.ParsePrefix(text("cidrBlock")); err == nil {
			a.subnets[r.ID] = subnet{vpc: text("vpcId"), zone: text("availabilityZone"), network: p}
		}
	case "aws:ebs/volume:Volume":
		a.zones[r.ID] = text("availabilityZone")
	case "aws:ec2/vpcDhcpOptions:VpcDhcpOptions":
		a.vpcs.options[r.ID] = out["domainNameServers"]
	case "aws:ec2/vpc:Vpc":
		a.vpcs.found[r.ID] = out
		a.defaultGroups[r.ID] = text("defaultSecurityGroupId")
	case "aws:ec2/internetGateway:InternetGateway":
		a.public.gateways[r.ID] = text("vpcId")
	case "aws:ec2/routeTableAssociation:RouteTableAssociation":
		a.routes.tables[text("subnetId")] = text("routeTableId")
	case "aws:ec2/route:Route":
		a.routes.of[text("routeTableId")] = append(a.routes.of[text("routeTableId")], newRoute(out))
	case "aws:ec2/eipAssociation:EipAssociation":
		a.public.mapped[r.ID] = a.public.interfaces[text("networkInterfaceId")]
	case "aws:ec2/natGateway:NatGateway":
		a.public.mapped[r.ID] = a.subnets[text("subnetId")].vpc
	case "aws:ec2/networkInterface:NetworkInterface":
		a.public.interfaces[r.ID] = a.subnets[text("subnetId")].vpc
		if ip, err := netip.ParseAddr(text("privateIp")); err == nil {
			a.interfaces[r.ID] = placement{text("subnetId"), ip}
			a.assign(text("subnetId"), ip, r.URN)
		}
	case "aws:ec2/instance:Instance":
		a.zones[r.ID] = text("availabilityZone")
		if ip, err := netip.ParseAddr(text("privateIp")); err == nil {
			a.assign(text("subnetId"), ip, r.URN)
		}
	}
}

// End makes the next read of a resource find nothing, as if the service had ended it:
// EMR terminates an idle cluster.
func (a *Account) End(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended[id] = true
}

// HasEnded reports whether End was called for a resource.
func (a *Account) HasEnded(id string) bool { return of(a, a.ended, id) }

// LoseServiceRole removes the account's service-linked role of a service, such as
// spot.amazonaws.com: a new account has none.
func (a *Account) LoseServiceRole(service string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lacking[service] = true
}

// Remove removes a resource that no longer exists and frees its name and
// addresses.
func (a *Account) Remove(r Resource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := nameKey(r.Type, property.Plain(r.Outputs)); key != "" && a.names[key] == r.URN {
		delete(a.names, key)
	}
	delete(a.existing, r.Type+" "+r.ID)
	switch r.Type {
	case bucketType:
		a.removeObjects(r.ID)
	case objectType:
		bucket, _ := property.Plain(r.Outputs)["bucket"].(string)
		delete(a.objects[bucket], r.ID)
	}
	delete(a.subnets, r.ID)
	delete(a.interfaces, r.ID)
	a.public.remove(r.ID)
	for _, owners := range a.addresses {
		for ip, owner := range owners {
			if owner == r.URN {
				delete(owners, ip)
			}
		}
	}
}

// Exists reports whether a resource is in the account: the engine has created it,
// or named it in a request, and has not deleted it.
func (a *Account) Exists(typ, id string) bool { return of(a, a.existing, typ+" "+id) }

// ClaimName reserves the name of a resource that is about to be created. Like
// the service, it refuses a name that exists. Call release if creation fails.
func (a *Account) ClaimName(r Resource) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := nameKey(r.Type, property.Plain(r.Inputs))
	if key == "" {
		return func() {}, nil
	}
	if owner, exists := a.names[key]; exists {
		typ, name, _ := strings.Cut(key, " ")
		return nil, fmt.Errorf("%s %q exists already: it is %s", typ, name, owner)
	}
	a.names[key] = r.URN
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.names, key)
	}, nil
}

var errUnknownSubnet = errors.New("no request of this run has named it")

// subnet returns what is known of a subnet.
func (a *Account) subnet(id string) (subnet, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.subnets[id]
	return s, ok
}

// of returns what one of the account's maps has for a key, or the zero value.
func of[V any](a *Account, known map[string]V, key string) V {
	a.mu.Lock()
	defer a.mu.Unlock()
	return known[key]
}

func (a *Account) interfacePlacement(id string) (placement, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.interfaces[id]
	return p, ok
}
