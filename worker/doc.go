// Package worker is one node: HTTP server, dispatcher that drives the
// scheduling engine, and what they need.
package worker
