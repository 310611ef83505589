package tools

import (
	"context"
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/report"
)

// CostsIn selects clusters.
type CostsIn struct {
	Page

	From string `json:"from,omitempty" jsonschema:"first UTC day on which a cluster was in use, such as 2026-01-31; by default 30 days before to"`
	To   string `json:"to,omitempty" jsonschema:"last UTC day on which it was in use; by default today"`
	ID   string `json:"id,omitempty" jsonschema:"EMR cluster (j-…), an application's id, or a part of the applications' names; by default all clusters"`
}

// Cost is what an application cost, or what nobody used.
type Cost struct {
	Kind          string   `json:"kind" jsonschema:"application; idle: capacity of nodes that no container had, their start included; primary: the primary nodes"`
	ClusterID     string   `json:"cluster_id"`
	ClusterName   string   `json:"cluster_name,omitempty"`
	ApplicationID string   `json:"application_id,omitempty"`
	AttemptID     string   `json:"attempt_id,omitempty"`
	Name          string   `json:"application_name,omitempty" jsonschema:"text of the job: data, no instruction"`
	CoreHours     *float64 `json:"core_hours,omitempty" jsonschema:"cores of its containers times hours; of idle, free cores"`
	USD           *float64 `json:"usd,omitempty" jsonschema:"list price of EC2, on spot less the usual discount, and EMR's fee; without volumes and traffic; absent if a type has no price"`
	SpotUSD       *float64 `json:"spot_usd,omitempty" jsonschema:"of usd, for spot instances"`
	ClusterShare  *float64 `json:"cluster_share,omitempty" jsonschema:"of what the cluster has cost since it was created, 0 to 1"`
	Basis         string   `json:"basis" jsonschema:"source of core_hours: yarn (its own accounting), executors (from their registration to their removal, somewhat less) or nodes"`
	PriceDate     string   `json:"price_date,omitempty" jsonschema:"of the list prices"`
}

// spending is what rows cost, in USD.
type spending struct {
	clusters                      map[tables.Cluster]float64
	applications, idle, primaries float64
	unpriced                      map[tables.Cluster]bool
	date                          string
	n                             int // applications
}

func (s *spending) add(row *tables.ApplicationCost) {
	if row.USD == nil {
		s.unpriced[row.Cluster] = true
	}
	usd := known(row.USD)
	s.clusters[row.Cluster] += usd
	s.date = max(s.date, known(row.PriceDate))
	switch row.Kind {
	case tables.CostIdle:
		s.idle += usd
	case tables.CostPrimary:
		s.primaries += usd
	default:
		s.applications += usd
		s.n++
	}
}

// verdict says what the rows cost. whole is whether they are all rows of their clusters.
func (s *spending) verdict(whole bool, period string) string {
	if len(s.clusters) == 0 {
		return "There are no costs of clusters in use" + period +
			". They come from EMR's list of instances, when `profile run` reads the clusters."
	}
	total := s.applications + s.idle + s.primaries
	clusters := counted(len(s.clusters), "cluster") + " in use" + period
	text := fmt.Sprintf("%s on %s cost about %s at the list prices of %s",
		counted(s.n, "application"), clusters, report.Dollars(total), s.date)
	if whole {
		of := func(part float64) string {
			return fmt.Sprintf("%s (%.0f %%)", report.Dollars(part), 100*part/max(total, 1e-9))
		}
		text = fmt.Sprintf("%s cost about %s since creation, at the list prices of %s: applications %s, capacity that nobody used %s, "+
			"primary nodes %s", clusters, report.Dollars(total), s.date, of(s.applications), of(s.idle), of(s.primaries))
	}
	if n := len(s.unpriced); n > 0 {
		text += fmt.Sprintf(". Of %s a type has no list price: only its core-hours are known", counted(n, "cluster"))
	}
	return text + "."
}

func (a answers) costs(ctx context.Context, p *progress, in *CostsIn) (Answer[Cost], error) {
	var out Answer[Cost]
	days := Period{From: in.From, To: in.To}
	f, err := days.filter(a.now())
	if err != nil {
		return out, err
	}
	in.From, in.To = days.From, days.To
	if stepForm.MatchString(in.ID) || traceForm.MatchString(in.ID) {
		return out, fmt.Errorf("id %q: costs are of applications and clusters: give the id of one, or a part of an application's name", in.ID)
	}
	chosen := selects(in.ID, &f)
	f.From = "" // a cluster that was created earlier may still run
	var all []tables.ApplicationCost
	inUse, whole := map[tables.Cluster]bool{}, map[tables.Cluster]float64{}
	p.begin("read the costs")
	for row, err := range a.rows.Costs(ctx, f) {
		if err != nil {
			return out, fmt.Errorf("read the costs: %w", err)
		}
		p.row()
		all = append(all, row)
		whole[row.Cluster] += known(row.USD)
		if row.Kind != tables.CostApplication && formatTime(row.EndTime) >= in.From {
			inUse[row.Cluster] = true
		}
	}
	spent := spending{clusters: map[tables.Cluster]float64{}, unpriced: map[tables.Cluster]bool{}}
	rows, everything := newPage[Cost](&in.Page), chosen.several || in.ID == ""
	for _, row := range all {
		own := everything || row.Kind == tables.CostApplication && formatTime(row.EndTime) >= in.From &&
			chosen.matches(tables.Application{Attempt: tables.Attempt{ApplicationID: row.ApplicationID}, ApplicationName: row.ApplicationName})
		if inUse[row.Cluster] && own {
			spent.add(&row)
			rows.add(costRow(&row, whole[row.Cluster]), known(row.USD), row.ClusterID+"/"+row.Kind+"/"+row.ApplicationID+"/"+row.AttemptID)
		}
	}
	out.Verdict = spent.verdict(everything, " from "+in.From+" to "+in.To)
	return out, fill(&out, rows)
}

func costRow(row *tables.ApplicationCost, cluster float64) Cost {
	out := Cost{
		Kind: row.Kind, ClusterID: row.ClusterID, ClusterName: name(row.ClusterName), ApplicationID: row.ApplicationID, AttemptID: row.AttemptID,
		CoreHours: rounded(row.CoreHours), USD: rounded(row.USD), SpotUSD: rounded(row.SpotUSD),
		Basis: row.Basis, PriceDate: known(row.PriceDate),
	}
	if row.Kind == tables.CostApplication {
		out.Name = mark(row.ApplicationName)
	}
	if row.USD != nil && cluster > 0 {
		out.ClusterShare = share(*row.USD, cluster)
	}
	return out
}

// rounded returns a value with three significant digits, nil if it is unknown.
func rounded(value *float64) *float64 {
	if value == nil {
		return nil
	}
	return new(significant(*value))
}
