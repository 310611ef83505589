package schema

// Actions of a budget.
const (
	BudgetWarns   = "warn"
	BudgetRefuses = "refuse"
)

// maxBudgetUSD keeps amounts exact in JSON's numbers.
const maxBudgetUSD = 100_000_000

// Budget is what a stack may cost.
type Budget struct {
	MonthlyUSD int    `json:"monthlyUsd" rule:"budget"`
	Action     string `json:"action" rule:"budgetAction"`
}

// Help describes the keys, for documents.
func (Budget) Help() map[string]string {
	return map[string]string{
		"monthlyUsd": "USD a month that the stack may cost at most, by the estimate that the preview prints: every scaled group at its most, " +
			"spot at its highest price, clusters without end. 0: no budget.",
		"action": "What a higher estimate does: warn, or refuse to update anything.",
	}
}

// SetDefaults sets no budget.
func (b *Budget) SetDefaults() { *b = Budget{Action: BudgetWarns} }

func budgetRules() map[string]Rule {
	return map[string]Rule{
		"budget":       intRange(0, maxBudgetUSD),
		"budgetAction": oneOf(BudgetWarns, BudgetRefuses),
	}
}
