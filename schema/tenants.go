package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const (
	tenantKey = `^[a-z]([a-z0-9_-]{0,30}[a-z0-9])?$`
	// DefaultQueue is the queue of applications that name none.
	DefaultQueue = "default"
	maxTenants   = 20
	// WholeCluster is all that YARN has, in percent.
	WholeCluster = 100
	// leastLeft is the share of the queue default: with 0, it would accept no application
	// (org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractLeafQueue,
	// updateMaximumApplications).
	leastLeft = 1
)

// Tenant is a team with a queue of its own in YARN's capacity scheduler.
type Tenant struct {
	Share      int  `json:"share" rule:"tenantShare"`
	Ceiling    int  `json:"ceiling" rule:"tenantCeiling"`
	Preemption bool `json:"preemption"`
}

// Help describes the keys, for documents.
func (Tenant) Help() map[string]string {
	return map[string]string{
		"share":   "Percent of YARN's memory and cores that the tenant's applications get as soon as they ask for it.",
		"ceiling": "Percent that they may have while others leave it.",
		"preemption": "Whether the scheduler ends containers beyond the share when another tenant lacks its own. False: it waits until they " +
			"end by themselves.",
	}
}

// SetDefaults lets a tenant use what others leave, until they ask for it.
func (t *Tenant) SetDefaults() { *t = Tenant{Ceiling: WholeCluster, Preemption: true} }

func tenantRules() map[string]Rule {
	return map[string]Rule{
		"tenants": textOnly(fmt.Sprintf("must be at most %d tenants, with keys of 1 to 32 lower-case letters, digits, hyphens and underscores "+
			"that begin with a letter, whose shares are at most %d together", maxTenants, WholeCluster-leastLeft)),
		"tenantKey": pattern(tenantKey,
			"a key of 1 to 32 lower-case letters, digits, hyphens and underscores, a letter first and no sign last"),
		"tenantShare":   intRange(1, WholeCluster).with(" percent", ""),
		"tenantCeiling": intRange(1, WholeCluster).with(" percent, at least the share", ""),
	}
}

// TenantKeys returns the keys of the tenants in their order.
func (c Cluster) TenantKeys() []string { return slices.Sorted(maps.Keys(c.Tenants)) }

// checkTenants checks the queues of tenants (Hadoop, "CapacityScheduler").
func (c Cluster) checkTenants(l *violation.List, path string) {
	at, sum := path+".tenants", 0
	l.Require(len(c.Tenants) <= maxTenants, at, len(c.Tenants), rules["tenants"].Text, "let some share a queue")
	for _, key := range c.TenantKeys() {
		t, r := c.Tenants[key], rules["tenantKey"]
		l.Require(r.Holds(key), at+"."+key, key, r.Text, "rename the key")
		l.Require(key != DefaultQueue && key != "root", at+"."+key, key,
			"must not be default or root: applications without a queue are in default, which has what the tenants leave", "rename the key")
		checkFields(l, at+"."+key, t)
		l.Require(t.Ceiling >= t.Share, at+"."+key+".ceiling", t.Ceiling, fmt.Sprintf("must be at least the share, %d", t.Share), "raise it")
		sum += t.Share
	}
	l.Require(sum <= WholeCluster-leastLeft, at, sum,
		fmt.Sprintf("must have shares of at most %d percent together: applications that name no queue need a share, too", WholeCluster-leastLeft),
		"lower some")
	if len(c.Tenants) == 0 {
		return
	}
	l.Require(c.hasSpark() || c.has("Hadoop"), at, len(c.Tenants), "must not be set without YARN",
		"remove it, or add Hadoop to "+path+".applications")
	const root = "yarn.scheduler.capacity.root."
	settingsOf(c.Configurations, path+".configurations").each(func(classification, property string, v setting) {
		queue, part, _ := strings.Cut(strings.TrimPrefix(property, root), ".")
		_, tenant := c.Tenants[queue]
		own := property == root+"queues" || (tenant || queue == DefaultQueue) && strings.HasSuffix(part, "capacity")
		l.Require(classification != capacity || !strings.HasPrefix(property, root) || !own, v.path, v.value,
			"must not be set with tenants, which set it: shares must sum to 100 percent, or the resource manager does not start",
			"remove it, or the tenants")
	})
}

// LeftShare is the percentage that the tenants leave to applications that name no queue.
func (c Cluster) LeftShare() int {
	left := WholeCluster
	for _, t := range c.Tenants {
		left -= t.Share
	}
	return left
}
