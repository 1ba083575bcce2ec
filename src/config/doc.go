// Package config is the worker's configuration: config.json with the keys of
// OpenLambda, and those that are ours.
//
// Invariants:
//   - Precedence is flag (-o) over OL_* environment over file over default.
//   - A key that does not exist is an error that names it and the nearest one
//     that does; it is never ignored.
//   - The type of a value follows the default of its key.
//   - New depends on its arguments only; a Config that passed Validate can be
//     used without further checks of its values.
package config
