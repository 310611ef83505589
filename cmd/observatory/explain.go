package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/cost"
	"github.com/emr-observatory/emr-observatory/explain"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// explanation is what explain prints.
type explanation struct {
	Clusters []explain.Cluster `json:"clusters"`
	Cost     cost.Estimate     `json:"cost"`
}

func explainCommand(s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "explain [CLUSTER]", Args: cobra.MaximumNArgs(1),
		Short: "Say what a stack's clusters get, who set it, and what it costs",
		Long: "Reads a stack's file, without an account. Of each cluster it prints every value and who set it: the default, the preset or the\n" +
			"user; the properties that EMR writes into the applications' files, with those of glueCatalog and of the platform; what\n" +
			"executors leave of the nodes, what scaling may do, what is unusual; and what it costs at least, as a rule and at most.",
		Example: "  observatory explain --stack dev\n  observatory explain etl --stack dev --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := explainStack(s, args)
			if err != nil {
				return err
			}
			if !asJSON {
				return printExplanation(cmd.OutOrStdout(), out)
			}
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(out); err != nil {
				return fmt.Errorf("print the explanation: %w", err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

// explainStack explains the clusters of the stack of the flags, or the named one.
func explainStack(s *settings, names []string) (explanation, error) {
	project, err := projectDir()
	if err != nil {
		return explanation{}, err
	}
	file, cfg, err := config.ReadStackFile(project, s.stack)
	if err != nil {
		return explanation{}, err
	}
	out := explanation{Cost: cost.Of(cfg)}
	if out.Clusters, err = explain.Clusters(file.Values[platform.Project+":clusters"], cfg, out.Cost); err != nil {
		return explanation{}, err
	}
	if len(names) == 0 {
		return out, nil
	}
	known := cfg.ClusterKeys()
	if !slices.Contains(known, names[0]) {
		if len(known) == 0 {
			return out, errors.New(s.stack + " has no clusters")
		}
		return out, fmt.Errorf("%q is no cluster of stack %s; it has %s", names[0], s.stack, strings.Join(known, ", "))
	}
	out.Clusters = slices.DeleteFunc(out.Clusters, func(c explain.Cluster) bool { return c.Key != names[0] })
	return out, nil
}

// printExplanation prints it for people.
func printExplanation(w io.Writer, e explanation) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range e.Clusters {
		printCluster(t, c)
	}
	printPart(t, e.Cost.Stack, "The stack beside its clusters")
	fmt.Fprintf(t, "\nAll of it, a month\t%s\n", amounts(e.Cost.Month))
	fmt.Fprintf(t, "Prices in %s: %s\n", e.Cost.Region, strings.Join(e.Cost.Prices, "; "))
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the explanation: %w", err)
	}
	return nil
}

func printCluster(t *tabwriter.Writer, c explain.Cluster) {
	fmt.Fprintf(t, "Cluster %s", c.Key)
	if c.Preset != "" {
		fmt.Fprintf(t, ", preset %s: %s", c.Preset, c.Purpose)
	}
	fmt.Fprint(t, "\n\nKEY\tVALUE\tSET BY\n")
	for _, v := range c.Values {
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Path, v.Value, v.By)
	}
	fmt.Fprint(t, "\nPROPERTY\tVALUE\tSET BY\n")
	for _, p := range c.Properties {
		of := ""
		if p.Group != "" {
			of = "tasks." + p.Group + ": "
		}
		fmt.Fprintf(t, "%s%s %s\t%s\t%s\n", of, p.Classification, p.Name, p.Value, p.By)
	}
	if len(c.Nodes) > 0 {
		fmt.Fprint(t, "\nNODE\tYARN HAS\tEXECUTORS\tIDLE\n")
	}
	for _, n := range c.Nodes {
		fmt.Fprintf(t, "%s\t%d MiB, %d vcores\t", n.InstanceType, n.MemoryMiB, n.VCores)
		switch {
		case n.ExecutorMiB == 0:
			fmt.Fprint(t, "as EMR sizes them\t\n")
		case n.Executors == 0:
			fmt.Fprintf(t, "none: one of %d MiB and %d cores does not fit\t\n", n.ExecutorMiB, n.Cores)
		default:
			fmt.Fprintf(t, "%d of %d MiB and %d cores\t%d %% of the memory, %d %% of the cores\n", n.Executors, n.ExecutorMiB, n.Cores,
				n.IdleMemoryPercent, n.IdleCoresPercent)
		}
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Scaling", c.Scaling}, {"Unusual", c.Unusual}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(t, "\n%s\n  %s\n", list.title, strings.Join(list.lines, "\n  "))
		}
	}
	printPart(t, c.Cost, "What it costs")
	fmt.Fprintln(t)
}

// printPart prints what a part of the stack costs.
func printPart(t *tabwriter.Writer, p cost.Part, title string) {
	fmt.Fprintf(t, "\n%s\tLEAST\tTYPICAL\tMOST\n", title)
	for _, l := range p.Lines {
		fmt.Fprintf(t, "  %s: %s\t%s\n", l.Path, l.Detail, hourly(l.Hour))
	}
	fmt.Fprintf(t, "  an hour\t%s\n", hourly(p.Hour))
	fmt.Fprintf(t, "  hours a month\t%s\t%s\t%s\n", p.Hours.Least, p.Hours.Typical, p.Hours.Most)
	fmt.Fprintf(t, "  a month\t%s\n", amounts(p.Month))
	for _, a := range p.Assumptions {
		fmt.Fprintf(t, "  %s\n", a)
	}
	for _, u := range p.Unpriced {
		fmt.Fprintf(t, "  without a price: %s\n", u)
	}
}

// hourly writes amounts of an hour, which may be parts of a cent.
func hourly(r cost.Range) string {
	return fmt.Sprintf("%s\t%s\t%s", r.Least.Exact(), r.Typical.Exact(), r.Most.Exact())
}

func amounts(r cost.Range) string {
	return fmt.Sprintf("%s\t%s\t%s", r.Least, r.Typical, r.Most)
}
