// Package lambda describes one lambda: its name, its ol.yaml and the limits
// that follow from it.
//
// Invariants:
//   - A name that ValidName accepts is safe as one element of a path.
//   - Parsing is a function of the text: no file is read, no environment.
//   - What ol.yaml says and we do not know becomes a warning, what it says
//     wrongly becomes an error; nothing is dropped in silence.
package lambda
