// Package panel is the house style of dashboards: the only package that knows
// the Grafana SDK. Its constructors demand of every panel a title, a unit, a
// description in three parts, a datasource and queries; it numbers panels and
// queries, lays rows out on Grafana's grid of 24 columns, and refuses a row
// that does not fill it.
//
// It holds no dashboard and knows no metric.
package panel
