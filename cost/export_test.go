package cost

import (
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// By returns what a stack costs by other prices than the tables'.
func By(
	priceOf func(region, instanceType string) (facts.Price, bool), servicesOf func(region string) (facts.Services, bool), cfg schema.Config,
) Estimate {
	return priceList{priceOf, servicesOf}.estimate(cfg)
}
