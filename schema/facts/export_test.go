package facts

// FeeByRule is what the rule gives, also where the source has a fee.
func (t TypePrices) FeeByRule(region string) MicroUSD { return t.feeByRule(region) }
