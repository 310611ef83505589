package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// Files of Karpenter's package pricing: what AWS's Price List API answered for Linux on
// shared tenancy (hack/code/prices_gen), of us-east-1 and of GovCloud. A third file, for
// China, is in CNY and two years old.
var karpenterFiles = []string{
	"pkg/providers/pricing/zz_generated.pricing_aws.go",
	"pkg/providers/pricing/zz_generated.pricing_aws_us_gov.go",
}

// onDemand has prices by region and type.
type onDemand map[string]map[string]facts.MicroUSD

// recent is what Karpenter has.
type recent struct {
	source facts.PriceSource
	prices onDemand
}

func readKarpenter(ctx context.Context) (recent, error) {
	out := recent{prices: onDemand{}}
	m, err := karpenter.download(ctx)
	if err != nil {
		return out, err
	}
	date := ""
	for _, name := range karpenterFiles {
		err := m.read(name, func(file io.Reader) error {
			prices, generated, err := parsePrices(file)
			maps.Copy(out.prices, prices)
			if date == "" || generated < date {
				date = generated // the older of the two
			}
			return err
		})
		if err != nil {
			return out, err
		}
	}
	regions := slices.Sorted(maps.Keys(out.prices))
	out.source = facts.PriceSource{Module: m.path, Version: m.version, Date: date}
	for _, region := range regions {
		out.source.Has = append(out.source.Has, "on-demand prices of "+region)
	}
	return out, nil
}

var generatedAt = regexp.MustCompile(`// generated at (\d{4}-\d{2}-\d{2})T`)

// parsePrices reads a Go file whose variable maps regions to types to prices, and the day
// on which it was generated.
func parsePrices(file io.Reader) (onDemand, string, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, "", err
	}
	date := generatedAt.FindSubmatch(text)
	if date == nil {
		return nil, "", errors.New("no line says when it was generated")
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, "", err
	}
	out := onDemand{}
	var failure error
	ast.Inspect(syntax, func(node ast.Node) bool {
		entry, isEntry := node.(*ast.KeyValueExpr)
		if !isEntry || failure != nil {
			return failure == nil
		}
		types, isRegion := entry.Value.(*ast.CompositeLit)
		if !isRegion {
			failure = errors.New("a price outside a region")
			return false
		}
		region, prices, err := parseRegion(entry.Key, types)
		out[region], failure = prices, err
		return false
	})
	if failure == nil && len(out) == 0 {
		failure = errors.New("no prices")
	}
	return out, string(date[1]), failure
}

func parseRegion(key ast.Expr, types *ast.CompositeLit) (string, map[string]facts.MicroUSD, error) {
	region, err := literal(key)
	if err != nil {
		return "", nil, err
	}
	prices := map[string]facts.MicroUSD{}
	for _, element := range types.Elts {
		entry, isEntry := element.(*ast.KeyValueExpr)
		if !isEntry {
			return "", nil, fmt.Errorf("an entry of %s without a type", region)
		}
		name, err := literal(entry.Key)
		if err != nil {
			return "", nil, err
		}
		amount, err := literal(entry.Value)
		if err != nil {
			return "", nil, err
		}
		if prices[name], err = usd(amount); err != nil {
			return "", nil, fmt.Errorf("price of %s in %s: %w", name, region, err)
		}
	}
	return region, prices, nil
}

// literal returns the text of a string or number.
func literal(e ast.Expr) (string, error) {
	basic, isBasic := e.(*ast.BasicLit)
	if !isBasic {
		return "", fmt.Errorf("an expression at %d where a literal was expected", e.Pos())
	}
	if basic.Kind == token.STRING {
		return strconv.Unquote(basic.Value)
	}
	return basic.Value, nil
}
