// Package panel is the house style of dashboards, and the only package that
// imports the Grafana SDK. Its constructors require of every panel a title, a
// unit, a description in three parts, a datasource and queries. It numbers
// panels and queries, places rows on Grafana's grid of 24 columns, and rejects
// a row that does not fill it.
//
// It contains no dashboard and depends on no metric.
package panel
